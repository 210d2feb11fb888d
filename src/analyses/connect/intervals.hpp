#pragma once

#include <cstdint>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// What replicates say of one cost. A replicate in which no path leads there has an infinite cost, which counts in the
/// interval and is left out of mean and deviation.
struct replicate_summary {
  double low = 0, high = 0;  ///< the interval's ends
  double mean = 0, sd = 0;   ///< NaN without finite costs; the deviation with one alone, too
  std::uint64_t valid = 0;   ///< finite costs
};

/// Percentile interval (Efron, Ann Stat 7:1, 1979): the quantiles (1 -+ percent / 100) / 2, linear between the sorted
/// costs. `costs`: at least one; sorted here.
replicate_summary summarise(std::vector<float>& costs, double percent);

/// Throws failure (usage) where rank 0 would have to hold more than 16 GB of replicates' costs.
void refuse_too_many_costs(const connect_inputs& inputs);

/// Of every cost of the step's file: constants cost_low, cost_high, cost_mean, cost_sd and cost_replicates, of the
/// matrix's shape in group "connectome"; for two ends single numbers in group "pathway", with replicate_cost, which has
/// them all. By one process; says in the log what it has found. Throws failure.
std::vector<constant> interval_constants(const result_reader& step, const connect_inputs& inputs);

}  // namespace voxherd
