#pragma once

#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd::report {

/// Whether a result was computed from a dynamic series, whose mean shows the anatomy, and which can be read again.
bool has_anatomy(const result_reader& r);

/// The mean of up to 16 volumes of that series, evenly spread, on the result's grid; empty if it has moved or changed.
std::vector<float> read_anatomy(const result_reader& r);

}  // namespace voxherd::report
