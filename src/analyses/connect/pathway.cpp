#include "src/analyses/connect/pathway.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/text.hpp"

namespace voxherd {

disjoint_sets::disjoint_sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }

std::uint32_t disjoint_sets::root(std::uint32_t of) {
  while (parent_[of] != of) {
    parent_[of] = parent_[parent_[of]];
    of = parent_[of];
  }
  return of;
}

std::uint32_t disjoint_sets::join(std::uint32_t a, std::uint32_t b) {
  const auto [first, second] = std::minmax({root(a), root(b)});
  parent_[second] = first;
  return first;
}

voxel_neighbours::voxel_neighbours(const std::array<std::uint64_t, 3>& size, const std::vector<std::uint64_t>& voxels)
    : voxels_(voxels), number_of_(size[0] * size[1] * size[2], -1) {
  for (std::size_t d = 0; d < 3; ++d) size_[d] = static_cast<std::int64_t>(size[d]);
  for (std::size_t n = 0; n < voxels.size(); ++n) number_of_[voxels[n]] = static_cast<std::int32_t>(n);
}

std::array<std::int64_t, 3> voxel_neighbours::place(std::uint32_t number) const {
  const auto v = static_cast<std::int64_t>(voxels_[number]);
  return {v % size_[0], v / size_[0] % size_[1], v / (size_[0] * size_[1])};
}

std::int32_t voxel_neighbours::number_at(std::int64_t x, std::int64_t y, std::int64_t z) const {
  if (x < 0 || y < 0 || z < 0 || x >= size_[0] || y >= size_[1] || z >= size_[2]) return -1;
  return number_of_[static_cast<std::size_t>((z * size_[1] + y) * size_[0] + x)];
}

std::vector<std::uint32_t> islands_of(const voxel_neighbours& space, std::size_t voxels) {
  disjoint_sets sets(voxels);
  for (std::uint32_t n = 0; n < voxels; ++n)
    space.each(n, 6, [&](std::uint32_t other) {
      if (other < n) sets.join(n, other);
    });
  std::vector<std::uint32_t> island(voxels);
  for (std::uint32_t n = 0; n < voxels; ++n) island[n] = sets.root(n);
  return island;
}

unreached_voxels count_unreached(const std::vector<std::uint32_t>& island, const std::vector<float>& arrival) {
  std::vector<std::uint64_t> voxels(island.size()), unreached(island.size());
  for (std::size_t n = 0; n < island.size(); ++n) {
    ++voxels[island[n]];
    unreached[island[n]] += std::isinf(arrival[n]) ? 1 : 0;
  }
  unreached_voxels found;
  for (std::size_t i = 0; i < island.size(); ++i) {
    found.voxels += unreached[i];
    const bool whole = voxels[i] > 0 && unreached[i] == voxels[i];
    found.islands += whole ? 1 : 0;
    if (whole) found.largest_island = std::max(found.largest_island, voxels[i]);
    if (!whole) found.elsewhere += unreached[i];
  }
  return found;
}

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// From 0.001, below the error of most schemes, to 0.5; each is 1.17 times the previous one.
std::vector<double> epsilon_grid() {
  constexpr int count = 40;
  constexpr double first = 0.001, last = 0.5;
  std::vector<double> grid;
  for (int i = 0; i < count; ++i) grid.push_back(first * std::pow(last / first, i / (count - 1.0)));
  return grid;
}

/// Voxels are added in the order of cost; connected parts are merged and their totals summed.
class growing_parts {
 public:
  growing_parts(const voxel_neighbours& space, const std::vector<float>& FA, const connect::region_list& regions)
      : space_(space), FA_(FA), sets_(FA.size()), parts_(FA.size()) {
    for (std::size_t r = 0; r < 2; ++r)
      for (std::uint64_t i = regions.offsets[r]; i < regions.offsets[r + 1]; ++i)
        parts_[regions.voxels[i]].touches |= 1u << r;
  }

  void add(std::uint32_t voxel) {
    part& own = parts_[voxel];
    own.voxels = 1;
    own.FA_sum = FA_[voxel];
    own.min_FA = FA_[voxel];
    space_.each(voxel, 26, [&](std::uint32_t other) {
      if (parts_[sets_.root(other)].voxels > 0) join(voxel, other);
    });
  }

  bool joins_both(std::uint32_t voxel) {
    const part& p = parts_[sets_.root(voxel)];
    return p.voxels > 0 && p.touches == 3;
  }

  /// All parts that touch both regions together. `seeds`: voxels of one region.
  pathway_extent extent(double epsilon, std::span<const std::uint32_t> seeds) {
    std::vector<std::uint32_t> roots;
    for (const std::uint32_t v : seeds)
      if (joins_both(v)) roots.push_back(sets_.root(v));
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    pathway_extent e{epsilon, 0, 0, std::numeric_limits<double>::infinity()};
    for (const std::uint32_t r : roots) {
      e.voxels += parts_[r].voxels;
      e.mean_FA += parts_[r].FA_sum;
      e.min_FA = std::min(e.min_FA, static_cast<double>(parts_[r].min_FA));
    }
    e.mean_FA = e.voxels > 0 ? e.mean_FA / static_cast<double>(e.voxels) : nothing;
    if (e.voxels == 0) e.min_FA = nothing;
    return e;
  }

 private:
  struct part {
    std::uint32_t touches = 0;
    std::uint64_t voxels = 0;
    double FA_sum = 0;
    float min_FA = 0;
  };

  void join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t one = sets_.root(a), two = sets_.root(b);
    if (one == two) return;
    const part first = parts_[one], second = parts_[two];
    parts_[sets_.join(one, two)] = {first.touches | second.touches, first.voxels + second.voxels,
                                    first.FA_sum + second.FA_sum, std::min(first.min_FA, second.min_FA)};
  }

  const voxel_neighbours& space_;
  const std::vector<float>& FA_;
  disjoint_sets sets_;
  std::vector<part> parts_;
};

void add_costs(pathway& p, const region_table& table) {
  const std::size_t voxels = p.from.size();
  p.total.resize(voxels);
  p.excess.resize(voxels);
  for (std::size_t v = 0; v < voxels; ++v) p.total[v] = p.from[v] + p.to[v];
  p.cost.min_total = *std::min_element(p.total.begin(), p.total.end());
  p.cost.from_at_to = table.cost[1];
  p.cost.to_at_from = table.cost[2];
  if (!std::isfinite(p.cost.min_total))
    refuse_data(
        "no path joins the two regions: they are in separate parts of the mask; give a wider --mask or --within");
  const double least = p.cost.min_total;
  for (std::size_t v = 0; v < voxels; ++v)
    p.excess[v] = static_cast<float>((static_cast<double>(p.total[v]) - least) / least);
}

}  // namespace

double pathway_cost::gap() const {
  const auto [least, most] = std::minmax({min_total, from_at_to, to_at_from});
  return (static_cast<double>(most) - least) / least;
}

pathway find_pathway(std::vector<float> from, std::vector<float> to, const region_table& table,
                     const connect::region_list& regions, const voxel_neighbours& space, const std::vector<float>& FA,
                     double epsilon) {
  pathway p;
  p.from = std::move(from);
  p.to = std::move(to);
  add_costs(p, table);
  std::vector<std::uint32_t> order(p.total.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p.excess[a] < p.excess[b]; });

  std::vector<double> epsilons = epsilon_grid();
  epsilons.insert(std::upper_bound(epsilons.begin(), epsilons.end(), epsilon), epsilon);
  growing_parts parts(space, FA, regions);
  const std::span<const std::uint32_t> seeds(regions.voxels.data(), regions.offsets[1]);
  auto next = order.begin();
  for (bool joined = false; !joined && next != order.end(); ++next) {
    parts.add(*next);
    joined = parts.joins_both(*next);
    p.cost.joining_excess = p.excess[*next];
  }
  bool chosen = false;
  p.inside.resize(p.total.size());
  for (const double e : epsilons) {
    const double most = (1 + e) * (1 + p.cost.joining_excess) - 1;
    for (; next != order.end() && p.excess[*next] <= most; ++next) parts.add(*next);
    const pathway_extent extent = parts.extent(e, seeds);
    if (e != epsilon || chosen) {
      p.curve.push_back(extent);
      continue;
    }
    chosen = true;
    p.chosen = extent;
    for (std::uint32_t v = 0; v < p.inside.size(); ++v) p.inside[v] = parts.joins_both(v) ? 1 : 0;
  }
  return p;
}

std::vector<std::uint64_t> voxels_of(const pathway& p, const std::vector<std::uint64_t>& voxels) {
  std::vector<std::uint64_t> inside;
  for (std::size_t n = 0; n < voxels.size(); ++n)
    if (p.inside[n] != 0) inside.push_back(voxels[n]);
  return inside;
}

std::vector<known_output> make_maps(const pathway& p, const std::string& unit) {
  return {known_map("arrival_from", p.from, unit, "cost of the least-cost path from the region `from`; infinite: none"),
          known_map("arrival_to", p.to, unit, "cost of the least-cost path from the region `to`; infinite: none"),
          known_map("total", p.total, unit, "cost of the least-cost path between the regions through this voxel"),
          known_map("excess", p.excess, "1", "relative excess of that cost over the least cost of all paths"),
          known_map("pathway", p.inside, "1",
                    "1 where the total is up to 1 + --epsilon of the least whose voxels join both regions")};
}

std::vector<constant> make_constants(const pathway& p, const region_table& table, const std::string& unit,
                                     double voxel_mm3) {
  const auto curve = [&](const char* name, const char* of, const char* meaning, auto value) {
    constant c{name, {p.curve.size()}, {}, of, meaning, "pathway"};
    for (const pathway_extent& e : p.curve) c.values.push_back(value(e));
    return c;
  };
  const auto one = [&](const char* name, const std::string& of, const char* meaning, double value) {
    return constant{name, {1}, {value}, of, meaning, "pathway"};
  };
  return {
      curve("epsilon", "1", "largest relative excess of the cost over that of the paths that just join both regions",
            [](const pathway_extent& e) { return e.epsilon; }),
      curve("volume_mm3", "mm3", "volume of the pathway at each epsilon",
            [&](const pathway_extent& e) { return static_cast<double>(e.voxels) * voxel_mm3; }),
      curve("mean_FA", "1", "mean fractional anisotropy in the pathway", [](const auto& e) { return e.mean_FA; }),
      curve("min_FA", "1", "smallest fractional anisotropy in the pathway", [](const auto& e) { return e.min_FA; }),
      one("cost", unit, "cost of the least-cost path: least total of all voxels", p.cost.min_total),
      one("cost_from_at_to", unit, "least arrival_from in the region `to`; the same if solving were exact",
          p.cost.from_at_to),
      one("cost_to_at_from", unit, "least arrival_to in the region `from`; the same if solving were exact",
          p.cost.to_at_from),
      one("joining_excess", "1", "smallest excess whose voxels join both regions; 0 if solving were exact",
          p.cost.joining_excess),
      one("gap", "1", "largest relative difference of the three costs above: how exact they are", p.cost.gap()),
      one("length_mm", "mm", "length of the least-cost path", table.length_mm[1]),
      one("path_cost", unit, "cost along the least-cost path, integrated over it", table.path_cost[1])};
}

void log_pathway(const pathway& p, const region_table& table, const std::string& unit, double voxel_mm3) {
  spdlog::info(
      "least-cost path: cost {:.5g} {}, length {:.4g} mm; with only the front of --from {:.5g}, of --to {:.5g}: "
      "{:.2g} % apart (0 for an exact solution)",
      p.cost.min_total, unit, table.length_mm[1], p.cost.from_at_to, p.cost.to_at_from, 100 * p.cost.gap());
  spdlog::info("pathway: joins both regions at an excess of {:.2g} %; `voxherd report` shows how it grows with epsilon",
               100 * p.cost.joining_excess);
  spdlog::info("pathway at --epsilon {}: {}, {:.1f} mm3, mean FA {:.3f}", p.chosen.epsilon,
               counted(p.chosen.voxels, "voxel"), static_cast<double>(p.chosen.voxels) * voxel_mm3, p.chosen.mean_FA);
  if (p.cost.joining_excess > 0.05)
    spdlog::warn(
        "the pathway joins both regions only with paths {:.2g} % above the least cost: the solution is not more exact "
        "than that; try --order 2, --smooth, a smaller --max-ratio, or regions instead of points",
        100 * p.cost.joining_excess);
}

namespace {

/// Voxels are added in the order of excess. A part keeps its voxels in a list until it touches both regions.
class levels {
 public:
  levels(const connect::region_list& regions, const voxel_neighbours& space, std::size_t voxels)
      : space_(space), sets_(voxels), parts_(voxels), next_(voxels), level_(voxels, never) {
    for (std::size_t r = 0; r < 2; ++r)
      for (std::uint64_t i = regions.offsets[r]; i < regions.offsets[r + 1]; ++i)
        parts_[regions.voxels[i]].touches |= 1u << r;
  }

  void add(std::uint32_t voxel, float excess) {
    parts_[voxel].first = parts_[voxel].last = voxel;
    next_[voxel] = voxel;
    space_.each(voxel, 26, [&](std::uint32_t other) {
      if (parts_[sets_.root(other)].touches & added) join(sets_.root(voxel), sets_.root(other));
    });
    part& own = parts_[sets_.root(voxel)];
    own.touches |= added;
    if ((own.touches & both) != both) return;
    for (std::uint32_t v = own.first; own.is_waiting; v = next_[v]) {
      level_[v] = excess;
      if (v == own.last) own.is_waiting = false;
    }
  }

  std::vector<float> take() { return std::move(level_); }

 private:
  static constexpr float never = std::numeric_limits<float>::infinity();
  static constexpr std::uint32_t both = 3, added = 4;

  struct part {
    std::uint32_t touches = 0;          ///< bits: region from, region to, added
    std::uint32_t first = 0, last = 0;  ///< range of its voxels without a level
    bool is_waiting = true;             ///< has such voxels
  };

  void join(std::uint32_t one, std::uint32_t two) {
    if (one == two) return;
    const part a = parts_[one], b = parts_[two];
    part sum{a.touches | b.touches, a.first, a.last, a.is_waiting || b.is_waiting};
    if (a.is_waiting && b.is_waiting) {
      next_[a.last] = b.first;
      sum.last = b.last;
    } else if (b.is_waiting) {
      sum.first = b.first;
      sum.last = b.last;
    }
    parts_[sets_.join(one, two)] = sum;
  }

  const voxel_neighbours& space_;
  disjoint_sets sets_;
  std::vector<part> parts_;
  std::vector<std::uint32_t> next_;  ///< voxel of the same part
  std::vector<float> level_;
};

}  // namespace

std::vector<float> joining_levels(const pathway& p, const connect::region_list& regions, const voxel_neighbours& space,
                                  double largest_epsilon) {
  const double limit = (1 + largest_epsilon) * (1 + p.cost.joining_excess) - 1;
  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v < p.excess.size(); ++v)
    if (std::isfinite(p.excess[v]) && p.excess[v] <= limit) order.push_back(v);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p.excess[a] < p.excess[b]; });
  levels l(regions, space, p.excess.size());
  for (const std::uint32_t v : order) l.add(v, p.excess[v]);
  return l.take();
}

}  // namespace voxherd
