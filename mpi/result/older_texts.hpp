#pragma once

#include <string>

#include "mpi/result/hdf5_handle.hpp"

namespace voxherd {

/// Older versions wrote texts of variable length. HDF5 1.10 crashes or loops for ever in a damaged heap of those, so
/// another process tries to read the texts of / first. Throws failure (bad_data) if it fails. Does nothing for newer
/// files.
void try_older_texts(const std::string& path, hid_t file);

}  // namespace voxherd
