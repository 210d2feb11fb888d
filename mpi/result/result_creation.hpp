#pragma once

#include <string>

#include "mpi/result/hdf5_handle.hpp"
#include "mpi/result/result_layout.hpp"

namespace voxherd {

/// Creates a result file with every dataset at its full size, all its blocks reserved, and on disk. By one process:
/// HDF5's tables are written here and in mark_complete() only, since a write error within a collective call of HDF5
/// leaves the other ranks waiting. Throws failure (disk).
void create_result_file(const std::string& path, const result_layout& layout);

/// Writes the run's summary (JSON) and marks the file as complete, on disk. By one process, when no other has it open.
/// Throws failure (disk).
void mark_complete(const std::string& path, const std::string& summary);

/// Before the batches of a resumed file are written: it may be complete, but for its name.
void mark_incomplete(const std::string& path);

}  // namespace voxherd
