#pragma once

#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// An input of a result, on its grid; none if it no longer exists or has changed.
std::vector<nifti_header> find_input_images(const result_reader& r, const char* name);

}  // namespace voxherd
