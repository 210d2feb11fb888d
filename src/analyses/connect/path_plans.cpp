#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>

#include "src/analyses/connect/paths.hpp"

namespace voxherd {

namespace {

using connect::path_end;

/// `count` of the pathway's voxels, in the order of cost.
std::vector<std::uint32_t> chosen_voxels(const pathway& p, std::uint64_t count) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t v = 0; v < p.inside.size(); ++v)
    if (p.inside[v] != 0) all.push_back(v);
  std::stable_sort(all.begin(), all.end(), [&](auto a, auto b) { return p.excess[a] < p.excess[b]; });
  if (all.size() <= count) return all;
  std::vector<std::uint32_t> some;
  for (std::uint64_t i = 0; i < count; ++i) some.push_back(all[i * all.size() / count]);
  return some;
}

void warn_about(std::size_t lost, std::size_t of) {
  if (lost > 0)
    spdlog::warn("{} of {} paths do not lead back to their region (stuck, or too many steps); left out", lost, of);
}

}  // namespace

std::vector<planned_path> plan_paths(const pathway& p, const connect_inputs& inputs, const front_field& field,
                                     const device& d) {
  if (p.chosen.voxels == 0) return {};
  const auto solver = connect::make_solver(d, field.view(), inputs.options.solver);
  solver->solve(field.starts);
  return plan_paths(p, inputs, field, *solver, inputs.options.path_count);
}

std::vector<planned_path> plan_paths(const pathway& p, const connect_inputs& inputs, const front_field& field,
                                     const connect::solver& solver, std::uint64_t count) {
  const std::vector<std::uint32_t> voxels = chosen_voxels(p, count);
  std::vector<planned_path> paths;
  if (voxels.empty()) return paths;
  std::vector<connect::path_request> asked;
  for (const std::uint32_t v : voxels)
    for (std::uint32_t front = 0; front < 2; ++front) asked.push_back({front, v});
  std::vector<connect::path_score> scores(asked.size());
  solver.score_paths(asked, {}, scores.data());
  const auto scale = static_cast<float>(field.cost_scale);
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    const auto &first = scores[2 * i], &second = scores[2 * i + 1];
    if (first.end != path_end::source || second.end != path_end::source) continue;
    paths.push_back({{inputs.labels[0], inputs.labels[1]},
                     {0, 1},
                     {first.steps, second.steps},
                     path_form::through_voxel,
                     voxels[i],
                     p.total[voxels[i]],
                     (first.cost + second.cost) * scale,
                     first.length_mm + second.length_mm});
  }
  warn_about(voxels.size() - paths.size(), voxels.size());
  return paths;
}

std::vector<planned_path> plan_paths(const region_table& t, const connect_inputs& inputs) {
  std::vector<planned_path> paths;
  std::size_t joined = 0;
  for (std::uint32_t i = 0; i < t.regions; ++i) {
    for (std::uint32_t j = i + 1; j < t.regions; ++j) {
      const std::size_t at = cheaper_path(t, i, j);
      if (t.reached[i * t.regions + j] == 0) continue;
      ++joined;
      if (t.path_end[at] != static_cast<std::uint8_t>(path_end::source)) continue;
      const auto front = static_cast<std::uint32_t>(at / t.regions);
      paths.push_back({{inputs.labels[i], inputs.labels[j]},
                       {front, front},
                       {t.path_steps[at], 0},
                       front == j ? path_form::from_voxel : path_form::to_voxel,
                       t.best_voxel[at],
                       t.cost[at],
                       t.path_cost[at],
                       t.length_mm[at]});
    }
  }
  warn_about(joined - paths.size(), joined);
  // A batch solves for the fronts of its paths.
  std::stable_sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) { return a.fronts < b.fronts; });
  return paths;
}

}  // namespace voxherd
