#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/command.hpp"
#include "core/plan.hpp"
#include "core/text.hpp"
#include "mpi/run/steps.hpp"
#include "src/analyses/common/choose_device.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/connect/arrivals.hpp"
#include "src/analyses/connect/bootstrap.hpp"
#include "src/analyses/connect/inputs.hpp"
#include "src/analyses/connect/paths.hpp"
#include "src/analyses/connect/pathway.hpp"
#include "src/scan/white_matter.hpp"

namespace voxherd {

namespace {

/// Seconds in which one rank solves for the fronts of all regions.
double seconds_of_all_fronts(const run_estimate& arrivals) {
  if (arrivals.probed_items == 0) return 0;
  return arrivals.probe_seconds / static_cast<double>(arrivals.probed_items) * static_cast<double>(arrivals.items);
}

// Expected times of the steps after the arrival times, on `ranks` ranks like this one, from the estimate of that step.

/// Each batch of paths solves for its fronts again. The largest time: each pair may need the front of either region.
later_step predict_paths(const connect_inputs& inputs, int ranks, const run_estimate& arrivals) {
  later_step step;
  step.is_bound = true;
  const double all_fronts = seconds_of_all_fronts(arrivals);
  if (!inputs.options.is_connectome()) {
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

/// Fits and prepares one replicate to time it; its fronts take as long as those of the data.
later_step predict_bootstrap(const connect_inputs& inputs, const device& d, int ranks, const run_estimate& arrivals) {
  later_step step;
  const std::uint64_t replicates = inputs.options.bootstrap;
  const bootstrap_costs bootstrap(inputs, d);
  const int at_a_time = d.kind == backend::cpu ? bootstrap.lanes() : 1;  // those on a GPU share it
  const double one = bootstrap.time_preparation() / at_a_time + seconds_of_all_fronts(arrivals);
  step.seconds = one * std::ceil(static_cast<double>(replicates) / ranks);
  step.from = fmt::format("{} of {:.3g} s each", counted(replicates, "replicate"), one);
  return step;
}

void log_unreached(const std::string& who, const unreached_voxels& u, std::size_t voxels) {
  if (u.voxels == 0) return;
  std::string where;
  if (u.islands > 0)
    where = fmt::format(": {} in {} islands, the largest of {} voxels", u.voxels - u.elsewhere, u.islands,
                        u.largest_island);
  if (u.elsewhere > 0)
    where += fmt::format("{} {} at the edges of the reached parts", where.empty() ? ":" : ";", u.elsewhere);
  spdlog::info("{}: {} of {} voxels are never reached{}", who, u.voxels, voxels, where);
}

/// What rank 0 computes from the arrival times.
struct evaluation {
  std::vector<known_output> maps;
  std::vector<constant> constants;
  std::vector<planned_path> paths;
};

void warn_about_grey_matter(const connect_inputs& in, const std::vector<std::uint64_t>& voxels, const char* what) {
  const double part = part_outside(find_white_matter(in.image, white_matter_FA), voxels);
  if (part > max_part_outside)
    spdlog::warn("{:.0f} % of {} is outside white matter; give --within-fa {}, or a mask of white matter as --within",
                 100 * part, what, white_matter_FA);
}

void evaluate_pathway(const connect_inputs& in, const front_field& field, front_results fronts, const device& d,
                      evaluation& e) {
  const std::string unit = cost_unit(in.options.how);
  const voxel_neighbours space(in.grid.size, in.voxels);
  const std::vector<std::uint32_t> island = islands_of(space, in.voxels.size());
  log_unreached("from", count_unreached(island, fronts.arrival[0]), in.voxels.size());
  log_unreached("to", count_unreached(island, fronts.arrival[1]), in.voxels.size());
  const pathway p = find_pathway(std::move(fronts.arrival[0]), std::move(fronts.arrival[1]), fronts.table, in.regions,
                                 space, measured_FA(in.image, in.voxels), in.options.epsilon);
  log_pathway(p, fronts.table, unit, in.voxel_mm3());
  warn_about_grey_matter(in, voxels_of(p, in.voxels), "the pathway");
  e.maps = make_maps(p, unit);
  e.constants = make_constants(p, fronts.table, unit, in.voxel_mm3());
  if (!in.options.paths.empty()) e.paths = plan_paths(p, in, field, d);
}

void evaluate_connectome(const connect_inputs& in, const front_results& fronts, const front_results& isotropic,
                         evaluation& e) {
  const std::string unit = cost_unit(in.options.how);
  const voxel_neighbours space(in.grid.size, in.voxels);
  log_unreached("all regions", count_unreached(islands_of(space, in.voxels.size()), fronts.nearest.first_cost),
                in.voxels.size());
  log_connectome(fronts.table, unit);
  warn_about_grey_matter(in, in.voxels, "the region that paths may pass");
  e.maps = make_maps(fronts.nearest, in.labels, unit);
  e.constants = make_matrices(fronts.table, in.labels, unit);
  if (in.options.gain) {
    const auto gains = make_gain_matrices(fronts.table, isotropic.table, unit);
    e.constants.insert(e.constants.end(), gains.begin(), gains.end());
  }
  if (!in.options.paths.empty()) e.paths = plan_paths(fronts.table, in);
}

evaluation evaluate(const session& s, const connect_inputs& in, const front_field& field, front_collector& collected,
                    front_collector& collected_isotropic, const device& d) {
  evaluation e;
  front_results fronts = collected.gather(s), isotropic;
  if (in.options.gain) isotropic = collected_isotropic.gather(s);
  s.on_root([&] {
    if (in.options.is_connectome()) {
      evaluate_connectome(in, fronts, isotropic, e);
    } else {
      evaluate_pathway(in, field, std::move(fronts), d, e);
    }
  });
  s.broadcast(e.paths);
  return e;
}

/// Solves for every region's front, finds out what the command was asked for, and writes it. Collective. `how` holds
/// configuration and provenance. Throws failure, the same on every rank.
exit_status run_connect_steps(session& s, const connect_inputs& inputs, const run_settings& how, const device& d) {
  refuse_too_many_costs(inputs);
  const connect_settings& options = inputs.options;
  front_field field, isotropic;
  evaluation found;
  const bootstrap_costs* costs = nullptr;  // while its step lasts
  replicate_collector replicates;
  step_list steps;
  steps.work("preparation", [&](nlohmann::json& summary) {
    field = prepare_fronts(s, inputs, d);
    summary["preparation_device_seconds"] = field.seconds;
  });
  front_collector collected(inputs, d);
  const auto solve = [&] { return std::make_unique<arrival_times>(inputs, field, d); };
  const step_list::added_step arrivals =
      options.arrivals.empty() ? steps.run("arrivals", solve)
                               : steps.run_into("--arrivals", options.arrivals, "connect-arrivals", "arrivals", solve);
  arrivals.collect([&](const batch& fronts, auto outputs) { collected.add(fronts, outputs); }).describe("region");
  front_collector collected_isotropic(inputs, d);
  if (options.gain) {
    steps.work("isotropic_preparation", [&](nlohmann::json&) { isotropic = prepare_isotropic_fronts(s, inputs, d); });
    steps.run("isotropic", [&] { return std::make_unique<arrival_times>(inputs, isotropic, d); })
        .collect([&](const batch& fronts, auto outputs) { collected_isotropic.add(fronts, outputs); })
        .describe("region");
  }
  steps.work("evaluation",
             [&](nlohmann::json&) { found = evaluate(s, inputs, field, collected, collected_isotropic, d); });
  const int ranks = s.size();
  if (!options.paths.empty()) {
    steps
        .run_into("--paths", options.paths, "connect-paths", "paths",
                  [&] { return std::make_unique<path_tracing>(inputs, field, d, found.paths); })
        .describe("path", [&, ranks](const run_estimate& first) { return predict_paths(inputs, ranks, first); });
  }
  if (options.bootstrap > 0) {
    const auto start = [&] {
      auto made = std::make_unique<bootstrap_costs>(inputs, d);
      costs = made.get();
      return made;
    };
    const auto finish = [&](const std::string&, nlohmann::json& summary) {
      const std::vector<float> rows = replicates.gather(s);
      s.on_root([&] {
        const auto intervals = interval_constants(rows, inputs);
        found.constants.insert(found.constants.end(), intervals.begin(), intervals.end());
      });
      summary["bootstrap"] = costs->times().as_json();
    };
    steps.run("bootstrap", start, finish)
        .collect([&](const batch& items, auto outputs) { replicates.add(items, outputs); })
        .describe("replicate",
                  [&, ranks](const run_estimate& first) { return predict_bootstrap(inputs, d, ranks, first); });
  }
  constexpr double bytes_per_voxel = 17, largest_bytes = 4;  // of a pathway; a connectome's maps have 16
  known_size size = size_of_maps(inputs.grid, inputs.voxels.size(), bytes_per_voxel, largest_bytes);
  size.memory_bytes += bytes_per_voxel * static_cast<double>(inputs.voxels.size());
  steps.known_result(
      "maps",
      [&] {
        return known_result{"connect", inputs.grid, inputs.voxels, std::move(found.maps), std::move(found.constants)};
      },
      size);
  return run_steps(s, "connect", steps, how, hooks_for(d));
}

}  // namespace

exit_status run_connect(session& s, const connect_request& request) {
  run_settings how = make_run_settings(s, request.run);
  refuse_mixed(request.run);
  std::optional<device> chosen;  // late: CUDA starts while inputs are read
  const auto choose = [&] {
    if (!chosen) chosen = choose_device_of_one_kind(s, request.run);
    return *chosen;
  };
  const connect_inputs inputs = read_connect_inputs(s, request, choose);
  how.configuration = inputs.configuration;
  how.provenance["inputs"] = inputs.provenance;
  return run_connect_steps(s, inputs, how, choose());
}

extern const command connect_command = make_command<connect_options, run_connect>(
    {"connect", "least-cost paths: a pathway between two regions, or a connectome",
     "voxherd connect --dwi data.nii.gz --bvals bvals --bvecs bvecs \\\n"
     "  --mask mask.nii.gz --connectome parcellation.nii.gz \\\n"
     "  --region-names names.txt --out costs.h5\n"
     "voxherd export costs.h5 --to csv matrices"});

}  // namespace voxherd
