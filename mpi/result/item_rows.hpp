#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// One row per item of a batch, as computed: for a map, the values at the batch's voxels.
std::vector<std::byte> read_item_rows(const result_reader& reader, const output_spec& output, const batch& items);

}  // namespace voxherd
