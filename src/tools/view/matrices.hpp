#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "mpi/result/result_reader.hpp"

namespace voxherd::view {

/// Matrices of more regions are left to `voxherd export`.
inline constexpr std::uint64_t max_matrix_regions = 2000;

/// The connectome of a result: labels and names of its regions, and its matrices. Null if it has none.
nlohmann::json describe_matrices(const result_reader& r);

/// A block: {"regions"} and the values of a matrix, row by row. `number`: its place in describe_matrices(). Throws
/// failure (usage) if there is none, (bad_data) if it is too large.
std::string send_matrix(const result_reader& r, std::uint64_t number);

/// Names of the regions by label, if the run was given them.
std::map<std::int32_t, std::string> stored_region_names(const result_reader& r);

}  // namespace voxherd::view
