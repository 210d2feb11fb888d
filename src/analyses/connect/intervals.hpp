#pragma once

#include <cstdint>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// Statistics of one cost over the replicates. A replicate without a path has an infinite cost, which counts in the
/// interval but not in the mean and the deviation.
struct replicate_summary {
  double low = 0, high = 0;  ///< the interval's ends
  double mean = 0, sd = 0;   ///< NaN without finite costs; sd also with only one
  std::uint64_t valid = 0;   ///< finite costs
};

/// Percentile interval (Efron, Ann Stat 7:1, 1979): the quantiles (1 -+ percent / 100) / 2, linear between the sorted
/// costs. `costs`: at least one; sorted here.
replicate_summary summarise(std::vector<float>& costs, double percent);

/// Throws failure (usage) if the replicates' costs need more than 16 GB of rank 0's memory.
void refuse_too_many_costs(const connect_inputs& inputs);

/// For every cost in the step's file: constants cost_low, cost_high, cost_mean, cost_sd and cost_replicates, with the
/// matrix's shape in group "connectome"; for two ends single numbers in group "pathway", and replicate_cost with all
/// replicates. By one process; logs a summary. Throws failure.
std::vector<constant> interval_constants(const result_reader& step, const connect_inputs& inputs);

}  // namespace voxherd
