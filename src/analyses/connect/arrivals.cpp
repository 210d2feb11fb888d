#include "src/analyses/connect/arrivals.hpp"

#include <algorithm>
#include <limits>

#include "src/analyses/connect/solving.hpp"

namespace voxherd {

namespace {

using connect::path_end;

constexpr float infinite = std::numeric_limits<float>::infinity();

class arrival_runner final : public batch_runner {
 public:
  arrival_runner(std::unique_ptr<connect::solver> solver, const connect_inputs& inputs, const front_field& field)
      : solver_(std::move(solver)),
        regions_(inputs.regions.regions()),
        voxels_(inputs.voxels.size()),
        field_(field),
        scale_(static_cast<float>(field.cost_scale)) {
    solver_->set_regions(inputs.regions);
  }

  void run(const batch& items, std::span<const std::byte>, std::span<const std::span<std::byte>> outputs) override {
    solve_fronts(*solver_, field_.starts, items.first_item, items.item_count,
                 [&](std::size_t first, std::size_t count) {
                   const std::size_t at = first - items.first_item;
                   float* arrival = output_array<float>(outputs, 0) + at * voxels_;
                   solver_->arrivals(0, count, arrival);
                   std::for_each(arrival, arrival + count * voxels_, [&](float& u) { u *= scale_; });
                   copy_table(count, at * regions_, outputs);
                 });
  }

 private:
  void copy_table(std::size_t count, std::size_t at, std::span<const std::span<std::byte>> outputs) {
    const region_table t = make_region_table(*solver_, count, regions_, scale_);
    const auto copy = [&](const auto& values, std::size_t output) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      std::copy(values.begin(), values.end(), output_array<T>(outputs, output) + at);
    };
    copy(t.cost, 1);
    copy(t.mean_cost, 2);
    copy(t.reached, 3);
    copy(t.best_voxel, 4);
    copy(t.length_mm, 5);
    copy(t.path_cost, 6);
    copy(t.path_steps, 7);
    copy(t.path_end, 8);
  }

  std::unique_ptr<connect::solver> solver_;
  std::size_t regions_, voxels_;
  const front_field& field_;
  float scale_;
};

/// Follows a path from each region that a front reaches.
void add_paths(const connect::solver& solver, float scale, region_table& t) {
  std::vector<connect::path_request> asked;
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < t.cost.size(); ++i) {
    if (t.reached[i] == 0) continue;
    asked.push_back({static_cast<std::uint32_t>(i / t.regions), t.best_voxel[i]});
    place.push_back(i);
  }
  std::vector<connect::path_score> scores(asked.size());
  if (!asked.empty()) solver.score_paths(asked, {}, scores.data());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    t.length_mm[place[i]] = scores[i].length_mm;
    t.path_cost[place[i]] = scores[i].cost * scale;
    t.path_steps[place[i]] = scores[i].steps;
    t.path_end[place[i]] = static_cast<std::uint8_t>(scores[i].end);
  }
}

}  // namespace

arrival_times::arrival_times(const connect_inputs& inputs, const front_field& field, const device& d)
    : inputs_(inputs), field_(field), device_(d) {
  for (std::size_t r = 0; r < inputs.regions.regions(); ++r) {
    const std::uint64_t first = inputs.regions.offsets[r];
    const bool none = first == inputs.regions.offsets[r + 1];
    front_voxels_.push_back(none ? 0 : inputs.voxels[inputs.regions.voxels[first]]);
  }
}

std::vector<output_spec> arrival_times::outputs() const {
  const std::uint64_t regions = inputs_.labels.size();
  const std::string unit = cost_unit(inputs_.options.how);
  const auto row = [](const char* name, element_type type, std::uint64_t length, std::string of, const char* meaning) {
    return output_spec{name, type, {length}, output_layout::items, std::move(of), meaning};
  };
  constexpr auto real = element_type::float32, whole = element_type::uint32;
  return {row("arrival", real, inputs_.voxels.size(), unit,
              "arrival time at each voxel of /passable/voxel; infinite where no path leads"),
          row("cost", real, regions, unit, "least arrival time in each region"),
          row("mean_cost", real, regions, unit, "mean arrival time in the reached voxels of each region"),
          row("reached", whole, regions, "1", "voxels of each region that the front reaches"),
          row("best_voxel", whole, regions, "1", "number of the voxel with the least arrival time; 4294967295: none"),
          row("length_mm", real, regions, "mm", "length of the path back from there"),
          row("path_cost", real, regions, unit, "cost along that path, to be compared with the arrival time"),
          row("path_steps", whole, regions, "1", "steps of that path"),
          row("path_end", element_type::uint8, regions, "code",
              "0 the front's region, 1 too many steps, 2 stuck, 3 never reached")};
}

std::vector<constant> arrival_times::constants() const {
  constant labels{"label", {inputs_.labels.size()}, {}, "1", "label of each front's region", "fronts"};
  labels.values.assign(inputs_.labels.begin(), inputs_.labels.end());
  constant voxels{"voxel", {inputs_.voxels.size()}, {}, "1", "linear index of each voxel fronts may pass", "passable"};
  voxels.values.assign(inputs_.voxels.begin(), inputs_.voxels.end());
  return {labels, voxels};
}

/// Blocks are not known before a solver is created: a voxel needs at most a complete block of 64.
std::size_t arrival_times::device_bytes_per_item() const {
  constexpr std::uint64_t voxels_per_block = 16;  // a quarter full, as at the edges of a mask
  return connect::device_bytes_per_front(inputs_.voxels.size() / voxels_per_block + 1) +
         sizeof(float) * inputs_.voxels.size();
}

std::unique_ptr<batch_runner> arrival_times::make_runner() const {
  return std::make_unique<arrival_runner>(connect::make_solver(device_, field_.view(), inputs_.options.solver), inputs_,
                                          field_);
}

/// A GPU reads a tensor once for 16 or more fronts; a few batches keep several GPUs busy. The arrival times of a batch
/// need up to 256 MB of host memory.
std::uint64_t arrival_times::max_items_per_batch() const {
  const std::uint64_t room = (std::uint64_t{256} << 20) / (sizeof(float) * inputs_.voxels.size());
  const std::uint64_t shared = std::clamp<std::uint64_t>(inputs_.labels.size() / 16, 16, 127);
  return std::max<std::uint64_t>(1, std::min(room, shared));
}

bool is_detour(float path_cost, float cost) {
  return cost > 0 && std::isfinite(path_cost) && path_cost / cost > max_path_excess;
}

std::size_t cheaper_path(const region_table& t, std::size_t i, std::size_t j) {
  const std::size_t there = std::min(i, j) * t.regions + std::max(i, j);
  const std::size_t back = std::max(i, j) * t.regions + std::min(i, j);
  const auto cost = [&](std::size_t at) {
    return t.path_end[at] == static_cast<std::uint8_t>(path_end::source) ? t.path_cost[at] : infinite;
  };
  return cost(back) < cost(there) ? back : there;
}

region_table make_region_table(const connect::solver& solver, std::size_t fronts, std::size_t regions,
                               float cost_scale) {
  std::vector<connect::region_cost> costs(fronts * regions);
  solver.region_costs(costs.data());
  region_table t;
  t.regions = regions;
  for (const connect::region_cost& c : costs) {
    t.cost.push_back(c.least * cost_scale);
    t.mean_cost.push_back(c.mean * cost_scale);
    t.reached.push_back(c.reached);
    t.best_voxel.push_back(c.min_voxel);
  }
  t.length_mm.assign(costs.size(), infinite);
  t.path_cost.assign(costs.size(), infinite);
  t.path_steps.assign(costs.size(), 0);
  t.path_end.assign(costs.size(), static_cast<std::uint8_t>(path_end::never_reached));
  add_paths(solver, cost_scale, t);
  return t;
}

region_table read_region_table(const result_reader& arrivals) {
  region_table t;
  const std::uint64_t fronts = arrivals.item_voxels().size();
  t.regions = fronts;
  for (const auto& [name, to] : {std::pair{"cost", &t.cost}, std::pair{"mean_cost", &t.mean_cost},
                                 std::pair{"length_mm", &t.length_mm}, std::pair{"path_cost", &t.path_cost}})
    *to = arrivals.read_rows<float>(name, 0, fronts);
  for (const auto& [name, to] : {std::pair{"best_voxel", &t.best_voxel}, std::pair{"reached", &t.reached},
                                 std::pair{"path_steps", &t.path_steps}})
    *to = arrivals.read_rows<std::uint32_t>(name, 0, fronts);
  t.path_end = arrivals.read_rows<std::uint8_t>("path_end", 0, fronts);
  return t;
}

std::vector<float> read_front(const result_reader& arrivals, std::uint64_t front) {
  return arrivals.read_rows<float>("arrival", front, 1);
}

}  // namespace voxherd
