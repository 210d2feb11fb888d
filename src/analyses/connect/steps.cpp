#include "src/analyses/connect/steps.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "kernels/tensor_field/prepare_voxel.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/connect/arrivals.hpp"
#include "src/analyses/connect/bootstrap.hpp"
#include "src/analyses/connect/connectome.hpp"
#include "src/analyses/connect/intervals.hpp"
#include "src/analyses/connect/maps.hpp"
#include "src/analyses/connect/paths.hpp"
#include "src/analyses/connect/pathway.hpp"

namespace voxherd {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

/// Fractional anisotropy of every voxel, of the tensors as they were measured.
std::vector<float> measured_FA(const connect_inputs& in) {
  std::vector<float> FA(in.voxels.size());
  for (std::size_t n = 0; n < FA.size(); ++n) {
    const float* d = in.image.tensor.data() + 6 * in.voxels[n];
    FA[n] = geodesic::prepare::fractional_anisotropy({d[0], d[1], d[2], d[3], d[4], d[5]});
  }
  return FA;
}

void log_unreached(const std::string& who, const unreached_voxels& u, std::size_t voxels) {
  if (u.voxels == 0) return;
  std::string where;
  if (u.islands > 0)
    where = fmt::format(": {} in {} islands, the largest of {} voxels", u.voxels - u.elsewhere, u.islands,
                        u.largest_island);
  if (u.elsewhere > 0)
    where += fmt::format("{} {} at the edges of what is reached", where.empty() ? ":" : ";", u.elsewhere);
  spdlog::info("{}: {} of {} voxels are never reached{}", who, u.voxels, voxels, where);
}

/// What rank 0 makes of the arrival times.
struct evaluation {
  findings found;
  std::vector<planned_path> paths;
};

void evaluate_pathway(const connect_inputs& in, const front_field& field, const result_reader& arrivals,
                      const device& d, evaluation& e) {
  const std::string unit = cost_unit(in.options.how);
  const voxel_neighbours space(in.grid.size, in.voxels);
  const region_table table = read_region_table(arrivals);
  const std::vector<std::uint32_t> island = islands_of(space, in.voxels.size());
  std::vector<float> from = read_front(arrivals, 0), to = read_front(arrivals, 1);
  log_unreached("from", count_unreached(island, from), in.voxels.size());
  log_unreached("to", count_unreached(island, to), in.voxels.size());
  const pathway p =
      find_pathway(std::move(from), std::move(to), table, in.regions, space, measured_FA(in), in.options.epsilon);
  log_pathway(p, table, unit, in.voxel_mm3());
  e.found = {maps_of(p, unit), constants_of(p, table, unit, in.voxel_mm3())};
  if (!in.options.paths.empty()) e.paths = plan_paths(p, in, field, d);
}

void evaluate_connectome(const connect_inputs& in, const result_reader& arrivals, evaluation& e) {
  const std::string unit = cost_unit(in.options.how);
  const region_table table = read_region_table(arrivals);
  const nearest_regions nearest = find_nearest(arrivals, in.labels);
  const voxel_neighbours space(in.grid.size, in.voxels);
  log_unreached("all regions", count_unreached(islands_of(space, in.voxels.size()), nearest.first_cost),
                in.voxels.size());
  log_connectome(table, unit);
  e.found = {maps_of(nearest, unit), matrices_of(table, in.labels, unit)};
  if (!in.options.paths.empty()) e.paths = plan_paths(table, in);
}

evaluation evaluate(const session& s, const connect_inputs& in, const front_field& field, const std::string& file,
                    const device& d) {
  evaluation e;
  s.on_root([&] {
    const result_reader arrivals(file);
    if (in.options.connectome) {
      evaluate_connectome(in, arrivals, e);
    } else {
      evaluate_pathway(in, field, arrivals, d, e);
    }
  });
  e.found.share(s);
  s.broadcast(e.paths);
  return e;
}

/// Adds the intervals of all costs to what has been found. The step's file is left for the last step to remove.
exit_status run_bootstrap(const session& s, const connect_inputs& in, const run_settings& step, const device& d,
                          const device_hooks& hooks, findings& found, nlohmann::json& also) {
  const auto start = clock::now();
  bootstrap_costs costs(in, d);
  const exit_status status = run(s, costs, step, hooks);
  if (status != exit_status::whole) return status;
  findings intervals;
  s.on_root([&] { intervals.constants = interval_constants(result_reader(step.out), in); });
  intervals.share(s);
  found.constants.insert(found.constants.end(), intervals.constants.begin(), intervals.constants.end());
  also["bootstrap"] = costs.times().as_json();
  also["bootstrap_seconds"] = seconds_since(start);
  return status;
}

run_settings settings_of_arrivals(const connect_inputs& in, const run_settings& how) {
  run_settings step = step_settings(how, "arrivals");
  if (in.options.arrivals.empty()) return step;
  step.out = in.options.arrivals;
  step.is_step = false;
  return step;
}

run_settings settings_of_paths(const connect_inputs& in, const run_settings& how) {
  run_settings step = step_settings(how, "paths");
  step.out = in.options.paths;
  step.is_step = false;
  return step;
}

}  // namespace

exit_status run_connect_steps(session& s, const connect_inputs& inputs, const run_settings& how, const device& d) {
  refuse_too_many_costs(inputs);
  const device_hooks hooks = hooks_for(d);
  if (is_whole_already(s, "connect", how, hooks)) return exit_status::whole;
  const run_settings of_paths = settings_of_paths(inputs, how);
  if (!of_paths.out.empty()) (void)is_whole_already(s, "connect-paths", of_paths, hooks);

  auto start = clock::now();
  const front_field field = prepare_fronts(s, inputs, d);
  nlohmann::json also{{"preparation_seconds", seconds_since(start)}, {"preparation_device_seconds", field.seconds}};

  const run_settings step = settings_of_arrivals(inputs, how);
  start = clock::now();
  {
    arrival_times arrivals(inputs, field, d);
    const exit_status status = run(s, arrivals, step, hooks);
    if (status != exit_status::whole || how.dry_run) return status;
  }
  also["arrivals_seconds"] = seconds_since(start);

  start = clock::now();
  evaluation e = evaluate(s, inputs, field, step.out, d);
  also["evaluation_seconds"] = seconds_since(start);

  if (!of_paths.out.empty()) {
    start = clock::now();
    path_tracing tracing(inputs, field, d, e.paths);
    const exit_status status = run(s, tracing, of_paths, hooks);
    if (status != exit_status::whole) return status;
    also["paths_seconds"] = seconds_since(start);
  }

  const run_settings of_bootstrap = step_settings(how, "bootstrap");
  if (inputs.options.bootstrap.replicates > 0) {
    const exit_status status = run_bootstrap(s, inputs, of_bootstrap, d, hooks, e.found, also);
    if (status != exit_status::whole) return status;
  }

  run_settings last = how;
  last.label = "maps";
  last.also_in_summary = also;
  connect_maps maps(inputs, e.found);
  const exit_status status = run(s, maps, last, hooks);
  if (status == exit_status::whole && inputs.options.arrivals.empty())
    s.on_root([&] { std::filesystem::remove(step.out); });
  if (status == exit_status::whole && inputs.options.bootstrap.replicates > 0)
    s.on_root([&] { std::filesystem::remove(of_bootstrap.out); });
  return status;
}

}  // namespace voxherd
