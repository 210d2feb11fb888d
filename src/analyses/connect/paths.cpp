#include "src/analyses/connect/paths.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "kernels/portable/output_arrays.hpp"

namespace voxherd {

namespace {

/// Fronts solved for at once; paths are ordered by front, so that only a few are needed at a time.
constexpr std::size_t max_fronts = 16;

class path_runner final : public batch_runner {
 public:
  path_runner(std::unique_ptr<connect::solver> solver, const front_field& field, std::span<const planned_path> paths,
              std::span<const std::uint64_t> offsets)
      : solver_(std::move(solver)), field_(field), paths_(paths), offsets_(offsets) {}

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    const auto out = arrays_in<path_outputs>(outputs);
    copy_scores(items, out);
    const std::vector<std::uint32_t> fronts = fronts_of(items);
    for (std::size_t first = 0; first < fronts.size(); first += max_fronts) {
      const std::size_t end = std::min(first + max_fronts, fronts.size());
      trace(items,
            {fronts.begin() + static_cast<std::ptrdiff_t>(first), fronts.begin() + static_cast<std::ptrdiff_t>(end)},
            out.values<"position">());
    }
  }

 private:
  struct way {
    std::size_t path;
    std::size_t part;
  };

  void copy_scores(const batch& items, const output_arrays<path_outputs>& out) const {
    for (std::size_t i = 0; i < items.item_count; ++i) {
      const planned_path& p = paths_[items.first_item + i];
      std::copy(p.labels.begin(), p.labels.end(), out.values<"regions">() + 2 * i);
      out.put<"cost">(i, p.cost);
      out.put<"path_cost">(i, p.path_cost);
      out.put<"length_mm">(i, p.length_mm);
      out.put<"detour">(i, is_detour(p.path_cost, p.cost));
    }
  }

  std::vector<std::uint32_t> fronts_of(const batch& items) const {
    std::vector<std::uint32_t> fronts;
    for (const planned_path& p : paths_.subspan(items.first_item, items.item_count))
      fronts.insert(fronts.end(), p.fronts.begin(), p.fronts.end());
    std::sort(fronts.begin(), fronts.end());
    fronts.erase(std::unique(fronts.begin(), fronts.end()), fronts.end());
    return fronts;
  }

  void solve(const std::vector<std::uint32_t>& fronts) {
    if (fronts == solved_) return;
    solved_.clear();
    solver_->solve(select_starts(field_.starts, fronts));
    solved_ = fronts;
  }

  /// Follows the batch's paths that lead back to one of `fronts`; writes them to their places in `position`.
  void trace(const batch& items, const std::vector<std::uint32_t>& fronts, float* position) {
    solve(fronts);
    std::vector<connect::path_request> asked;
    std::vector<std::uint64_t> offsets{0};
    std::vector<way> ways;
    for (std::size_t i = items.first_item; i < items.first_item + items.item_count; ++i) {
      for (std::size_t part = 0; part < (paths_[i].form == path_form::through_voxel ? 2u : 1u); ++part) {
        const auto at = std::lower_bound(fronts.begin(), fronts.end(), paths_[i].fronts[part]);
        if (at == fronts.end() || *at != paths_[i].fronts[part]) continue;
        asked.push_back({static_cast<std::uint32_t>(at - fronts.begin()), paths_[i].voxel});
        offsets.push_back(offsets.back() + paths_[i].steps[part] + 1);
        ways.push_back({i, part});
      }
    }
    if (asked.empty()) return;
    std::vector<float> points(3 * offsets.back());
    solver_->trace_paths(asked, {}, offsets, points.data());
    const std::uint64_t batch_begin = offsets_[items.first_item];
    for (std::size_t w = 0; w < ways.size(); ++w)
      place(ways[w], {points.data() + 3 * offsets[w], points.data() + 3 * offsets[w + 1]},
            position + 3 * (offsets_[ways[w].path] - batch_begin));
  }

  /// All parts lead from the voxel back to a region. Those before the voxel are reversed, and the voxel is written only
  /// once.
  void place(const way& w, std::span<const float> points, float* to) const {
    const std::size_t count = points.size() / 3;
    if (paths_[w.path].form == path_form::from_voxel) {
      std::copy(points.begin(), points.end(), to);
      return;
    }
    if (w.part == 0) {
      for (std::size_t p = 0; p < count; ++p) std::copy_n(points.data() + 3 * (count - 1 - p), 3, to + 3 * p);
      return;
    }
    std::copy(points.begin() + 3, points.end(), to + 3 * (std::size_t{paths_[w.path].steps[0]} + 1));
  }

  std::unique_ptr<connect::solver> solver_;
  const front_field& field_;
  std::span<const planned_path> paths_;
  std::span<const std::uint64_t> offsets_;
  std::vector<std::uint32_t> solved_;
};

}  // namespace

path_tracing::path_tracing(const connect_inputs& inputs, const front_field& field, const device& d,
                           const std::vector<planned_path>& paths)
    : inputs_(inputs), field_(field), device_(d), paths_(paths) {
  for (const planned_path& p : paths) {
    path_voxels_.push_back(inputs.voxels[p.voxel]);
    offsets_.push_back(offsets_.back() + p.points());
  }
}

std::vector<constant> path_tracing::constants() const {
  const std::vector<std::int32_t>& labels = inputs_.labels;
  if (!inputs_.options.is_connectome()) return {};
  return {{"labels",
           {labels.size()},
           {labels.begin(), labels.end()},
           "1",
           "labels of all regions, also of those without paths",
           "regions"}};
}

std::size_t path_tracing::device_bytes_per_item() const {
  return 3 * sizeof(float) * (offsets_.back() / std::max<std::size_t>(1, paths_.size()) + 1) + 64;
}

std::unique_ptr<batch_runner> path_tracing::make_runner() const {
  return std::make_unique<path_runner>(connect::make_solver(device_, field_.view(), inputs_.options.solver), field_,
                                       paths_, offsets_);
}

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
  return plan_paths(p, inputs, field, *solver, inputs.options.max_paths);
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
