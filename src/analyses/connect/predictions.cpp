#include "src/analyses/connect/predictions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

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

/// Fronts that batches of `batch_items` consecutive pairs need in all, if each pair needs both of its fronts.
std::uint64_t count_fronts(std::uint64_t regions, std::uint64_t batch_items) {
  std::uint64_t fronts = 0, in_batch = 0;
  std::vector<std::uint8_t> needed(regions);
  const auto end_batch = [&] {
    fronts += static_cast<std::uint64_t>(std::count(needed.begin(), needed.end(), 1));
    std::fill(needed.begin(), needed.end(), 0);
    in_batch = 0;
  };
  for (std::uint64_t i = 0; i < regions; ++i) {
    for (std::uint64_t j = i + 1; j < regions; ++j) {
      needed[i] = needed[j] = 1;
      if (++in_batch == batch_items) end_batch();
    }
  }
  end_batch();
  return fronts;
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
  const std::uint64_t fronts = count_fronts(regions, std::max<std::uint64_t>(1, batch));
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
