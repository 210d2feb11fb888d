#include "src/analyses/connect/paths.hpp"

#include <algorithm>
#include <span>

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
    copy_scores(items, outputs);
    const std::vector<std::uint32_t> fronts = fronts_of(items);
    for (std::size_t first = 0; first < fronts.size(); first += max_fronts) {
      const std::size_t end = std::min(first + max_fronts, fronts.size());
      trace(items,
            {fronts.begin() + static_cast<std::ptrdiff_t>(first), fronts.begin() + static_cast<std::ptrdiff_t>(end)},
            output_array<float>(outputs, 5));
    }
  }

 private:
  struct way {
    std::size_t path;
    std::size_t part;
  };

  void copy_scores(const batch& items, std::span<const std::span<std::byte>> outputs) const {
    for (std::size_t i = 0; i < items.item_count; ++i) {
      const planned_path& p = paths_[items.first_item + i];
      std::copy(p.labels.begin(), p.labels.end(), output_array<std::int32_t>(outputs, 0) + 2 * i);
      output_array<float>(outputs, 1)[i] = p.cost;
      output_array<float>(outputs, 2)[i] = p.path_cost;
      output_array<float>(outputs, 3)[i] = p.length_mm;
      output_array<std::uint8_t>(outputs, 4)[i] = is_detour(p.path_cost, p.cost) ? 1 : 0;
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

std::vector<output_spec> path_tracing::outputs() const {
  const std::string unit = cost_unit(inputs_.options.how);
  const auto item = [](const char* name, element_type type, std::vector<std::uint64_t> shape, std::string of,
                       const char* meaning) {
    return output_spec{name, type, std::move(shape), output_layout::items, std::move(of), meaning};
  };
  constexpr auto real = element_type::float32;
  return {
      item("regions", element_type::int32, {2}, "1", "labels of the regions where the path begins and ends"),
      item("cost", real, {}, unit, "of the path, by arrival times"),
      item("path_cost", real, {}, unit, "of the path, integrated along it"),
      item("length_mm", real, {}, "mm", "Euclidean length"),
      item("detour", element_type::uint8, {}, "1", "1 if path_cost is more than 1.5 times cost: not to be relied on"),
      {"position", real, {3}, output_layout::points, "mm", "place in the world, RAS+"}};
}

std::size_t path_tracing::device_bytes_per_item() const {
  return 3 * sizeof(float) * (offsets_.back() / std::max<std::size_t>(1, paths_.size()) + 1) + 64;
}

std::unique_ptr<batch_runner> path_tracing::make_runner() const {
  return std::make_unique<path_runner>(connect::make_solver(device_, field_.view(), inputs_.options.solver), field_,
                                       paths_, offsets_);
}

}  // namespace voxherd
