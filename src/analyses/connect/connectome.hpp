#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/connect/arrivals.hpp"

namespace voxherd {

/// Which regions are nearest to a voxel.
struct nearest_regions {
  std::vector<std::int32_t> first_label, second_label;  ///< 0: none
  std::vector<float> first_cost, second_cost;           ///< infinite: none
};

/// By one process, front after front. If regions have the same cost, the earlier one is first.
nearest_regions find_nearest(const result_reader& arrivals, const std::vector<std::int32_t>& labels);

std::vector<known_output> make_maps(const nearest_regions& nearest, const std::string& unit);

/// Matrices of group "connectome": row: start of the paths, column: end.
std::vector<constant> make_matrices(const region_table& table, const std::vector<std::int32_t>& labels,
                                    const std::string& unit);

void log_connectome(const region_table& table, const std::string& unit);

}  // namespace voxherd
