#include "src/analyses/connect/pathway.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/readable.hpp"

namespace voxherd {

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
    throw failure(exit_status::bad_data,
                  "no path joins the two regions: they are in separate parts of the mask; give a "
                  "wider --mask or --within");
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

std::vector<known_output> make_maps(const pathway& p, const std::string& unit) {
  return {known_map("arrival_from", p.from, unit, "cost of the cheapest path from the region `from`; infinite: none"),
          known_map("arrival_to", p.to, unit, "cost of the cheapest path from the region `to`; infinite: none"),
          known_map("total", p.total, unit, "cost of the cheapest path between the regions through this voxel"),
          known_map("excess", p.excess, "1", "part by which that path is dearer than the cheapest of all"),
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
  return {curve("epsilon", "1", "part by which paths are dearer, at most, than those that just join both regions",
                [](const pathway_extent& e) { return e.epsilon; }),
          curve("volume_mm3", "mm3", "volume of the pathway at each epsilon",
                [&](const pathway_extent& e) { return static_cast<double>(e.voxels) * voxel_mm3; }),
          curve("mean_FA", "1", "mean fractional anisotropy in it", [](const auto& e) { return e.mean_FA; }),
          curve("min_FA", "1", "smallest fractional anisotropy in it", [](const auto& e) { return e.min_FA; }),
          one("cost", unit, "of the cheapest path: least total of all voxels", p.cost.min_total),
          one("cost_from_at_to", unit, "least arrival_from in the region `to`; the same if solving were exact",
              p.cost.from_at_to),
          one("cost_to_at_from", unit, "least arrival_to in the region `from`; the same if solving were exact",
              p.cost.to_at_from),
          one("joining_excess", "1", "smallest excess whose voxels join both regions; 0 if solving were exact",
              p.cost.joining_excess),
          one("gap", "1", "largest relative difference of the three: how exact the costs are", p.cost.gap()),
          one("length_mm", "mm", "of the cheapest path", table.length_mm[1]),
          one("path_cost", unit, "cost along the cheapest path, integrated over it", table.path_cost[1])};
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

}  // namespace voxherd
