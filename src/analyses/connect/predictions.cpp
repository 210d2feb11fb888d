#include "src/analyses/connect/predictions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/plan.hpp"
#include "core/readable.hpp"
#include "src/analyses/connect/bootstrap.hpp"
#include "src/analyses/connect/paths.hpp"

namespace voxherd {

namespace {

/// Seconds in which one rank solves for the fronts of all regions.
double seconds_of_all_fronts(const run_estimate& arrivals) {
  if (arrivals.probed_items == 0) return 0;
  return arrivals.probe_seconds / static_cast<double>(arrivals.probed_items) * static_cast<double>(arrivals.items);
}

}  // namespace

later_step predict_paths(const connect_inputs& inputs, int ranks, const run_estimate& arrivals) {
  later_step step;
  step.is_bound = true;
  const double all_fronts = seconds_of_all_fronts(arrivals);
  if (!inputs.options.connectome) {
    // Each rank solves once for both fronts, and rank 0 once before.
    step.seconds = 2 * all_fronts;
    step.from = "both fronts are solved for again";
    return step;
  }
  const std::uint64_t regions = inputs.labels.size(), pairs = regions * (regions - 1) / 2;
  const std::uint64_t batch = automatic_batch_items(pairs, static_cast<std::size_t>(arrivals.free_device_bytes), 64, 1,
                                                    path_items_per_batch, path_items_per_batch);
  const std::uint64_t batches = (pairs + batch - 1) / std::max<std::uint64_t>(1, batch);
  // Paths are ordered by front: only a front whose paths are in two batches is solved for again.
  const std::uint64_t fronts = regions + std::max<std::uint64_t>(1, batches) - 1;
  step.seconds =
      all_fronts * static_cast<double>(fronts) / static_cast<double>(std::max<std::uint64_t>(1, regions)) / ranks;
  step.from = fmt::format("{} of regions; their fronts are solved for {} times", counted(pairs, "pair"), fronts);
  return step;
}

later_step predict_bootstrap(const connect_inputs& inputs, const device& d, int ranks, const run_estimate& arrivals) {
  later_step step;
  const std::uint64_t replicates = inputs.options.bootstrap.replicates;
  const double one = time_replicate_field(inputs, d) + seconds_of_all_fronts(arrivals);
  step.seconds = one * std::ceil(static_cast<double>(replicates) / ranks);
  step.from = fmt::format("{} of {:.3g} s each", counted(replicates, "replicate"), one);
  return step;
}

}  // namespace voxherd
