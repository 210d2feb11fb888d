#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/connect/arrivals.hpp"

namespace voxherd {

std::vector<known_output> make_maps(const nearest_regions& nearest, const std::vector<std::int32_t>& labels,
                                    const std::string& unit);

/// Matrices of group "connectome": row: start of the paths, column: end.
std::vector<constant> make_matrices(const region_table& table, const std::vector<std::int32_t>& labels,
                                    const std::string& unit);

void log_connectome(const region_table& table, const std::string& unit);

}  // namespace voxherd
