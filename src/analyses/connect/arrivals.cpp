#include "src/analyses/connect/arrivals.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/portable/output_rows.hpp"
#include "src/analyses/connect/fronts.hpp"
#include "src/analyses/connect/gather_rows.hpp"

namespace voxherd {

namespace {

constexpr std::int32_t none = -1;

/// A region before which no other has been added is `none`, with infinite cost, and never replaced by an infinite one.
bool is_before(float cost, std::int32_t region, float other_cost, std::int32_t other) {
  return cost < other_cost || (cost == other_cost && region < other);
}

void insert(nearest_regions& n, std::size_t voxel, float cost, std::int32_t region) {
  if (is_before(cost, region, n.first_cost[voxel], n.first[voxel])) {
    n.second[voxel] = n.first[voxel];
    n.second_cost[voxel] = n.first_cost[voxel];
    n.first[voxel] = region;
    n.first_cost[voxel] = cost;
  } else if (is_before(cost, region, n.second_cost[voxel], n.second[voxel])) {
    n.second[voxel] = region;
    n.second_cost[voxel] = cost;
  }
}

}  // namespace

nearest_regions::nearest_regions(std::size_t voxels)
    : first(voxels, none), second(voxels, none), first_cost(voxels, infinite), second_cost(voxels, infinite) {}

void nearest_regions::add(std::size_t first_region, std::span<const float> arrival, int threads) {
  constexpr std::size_t piece = 4096;  // voxels, in cache for all fronts
  const std::size_t n = voxels(), regions = arrival.size() / std::max<std::size_t>(1, n);
  const auto pieces = static_cast<std::int64_t>((n + piece - 1) / piece);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t p = 0; p < pieces; ++p) {
    const std::size_t begin = static_cast<std::size_t>(p) * piece, end = std::min(n, begin + piece);
    for (std::size_t r = 0; r < regions; ++r) {
      const auto region = static_cast<std::int32_t>(first_region + r);
      for (std::size_t v = begin; v < end; ++v) insert(*this, v, arrival[r * n + v], region);
    }
  }
}

void nearest_regions::add(const nearest_regions& others) {
  for (std::size_t v = 0; v < voxels(); ++v) {
    if (others.first[v] != none) insert(*this, v, others.first_cost[v], others.first[v]);
    if (others.second[v] != none) insert(*this, v, others.second_cost[v], others.second[v]);
  }
}

nearest_regions gather_nearest(const session& s, nearest_regions own) {
  const auto ranks = static_cast<std::size_t>(s.size());
  if (ranks == 1) return own;
  const std::size_t voxels = own.voxels();
  const auto first = s.gather_to_root(own.first), second = s.gather_to_root(own.second);
  const auto first_cost = s.gather_to_root(own.first_cost), second_cost = s.gather_to_root(own.second_cost);
  for (std::size_t r = 1; s.is_root() && r < ranks; ++r) {
    nearest_regions other(0);
    const auto cut = [&](const auto& all, auto& part) {
      part.assign(all.begin() + static_cast<std::ptrdiff_t>(r * voxels),
                  all.begin() + static_cast<std::ptrdiff_t>((r + 1) * voxels));
    };
    cut(first, other.first), cut(second, other.second);
    cut(first_cost, other.first_cost), cut(second_cost, other.second_cost);
    own.add(other);
  }
  return s.is_root() ? std::move(own) : nearest_regions(0);
}

namespace {

using connect::path_end;

/// Calls use.operator()<output>(values) for every column of a table.
template <class Table, class Use>
void each_column(Table& t, const Use& use) {
  use.template operator()<"cost">(t.cost);
  use.template operator()<"mean_cost">(t.mean_cost);
  use.template operator()<"reached">(t.reached);
  use.template operator()<"best_voxel">(t.best_voxel);
  use.template operator()<"length_mm">(t.length_mm);
  use.template operator()<"path_cost">(t.path_cost);
  use.template operator()<"path_steps">(t.path_steps);
  use.template operator()<"path_end">(t.path_end);
}

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
    const auto out = arrays_in<arrival_outputs>(outputs);
    solve_fronts(*solver_, field_.starts, items.first_item, items.item_count,
                 [&](std::size_t first, std::size_t count) {
                   const std::size_t at = first - items.first_item;
                   float* arrival = out.values<"arrival">() + at * voxels_;
                   solver_->arrivals(0, count, arrival);
                   scale(arrival, count * voxels_);
                   copy_table(count, at * regions_, out);
                 });
  }

 private:
  /// On the threads of this rank, also if a GPU has solved: a batch has tens of millions of values.
  void scale(float* arrival, std::size_t count) const {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < count; ++i) arrival[i] *= scale_;
  }

  void copy_table(std::size_t count, std::size_t at, const output_arrays<arrival_outputs>& out) {
    const region_table t = make_region_table(*solver_, count, regions_, scale_);
    each_column(t, [&]<output_name Name>(const auto& values) {
      std::copy(values.begin(), values.end(), out.template values<Name>() + at);
    });
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
    front_voxels_.push_back(none ? no_voxel : inputs.voxels[inputs.regions.voxels[first]]);
  }
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

front_collector::front_collector(const connect_inputs& inputs, const device& d)
    : inputs_(inputs),
      threads_(d.kind == backend::cuda ? d.threads : 1),  // on a CPU all threads compute meanwhile
      nearest_(inputs.options.is_connectome() ? inputs.voxels.size() : 0) {}

void front_collector::add(const batch& fronts, std::span<const std::span<const std::byte>> outputs) {
  for (std::uint64_t i = 0; i < fronts.item_count; ++i) fronts_.push_back(fronts.first_item + i);
  const output_rows<arrival_outputs> rows(outputs);
  each_column(own_, [&]<output_name Name>(auto& values) {
    const auto more = rows.template values<Name>();
    values.insert(values.end(), more.begin(), more.end());
  });
  const std::span<const float> arrival = rows.values<"arrival">();
  if (inputs_.options.is_connectome()) {
    nearest_.add(fronts.first_item, arrival, threads_);
  } else {
    arrival_.insert(arrival_.end(), arrival.begin(), arrival.end());
  }
}

front_results front_collector::gather(const session& s) {
  front_results all;
  const std::vector<std::uint64_t> fronts = s.gather_to_root(fronts_);
  const std::size_t regions = inputs_.regions.regions(), voxels = inputs_.voxels.size();
  each_column(own_, [&]<output_name>(auto& values) { values = gather_rows(s, fronts, values, regions); });
  all.table = std::move(own_);
  all.table.regions = regions;
  if (inputs_.options.is_connectome()) {
    all.nearest = gather_nearest(s, std::move(nearest_));
    return all;
  }
  const std::vector<float> arrival = gather_rows(s, fronts, arrival_, voxels);
  for (auto row = arrival.begin(); row != arrival.end(); row += static_cast<std::ptrdiff_t>(voxels))
    all.arrival.emplace_back(row, row + static_cast<std::ptrdiff_t>(voxels));
  return all;
}

}  // namespace voxherd
