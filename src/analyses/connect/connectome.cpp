#include "src/analyses/connect/arrivals.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/text.hpp"

namespace voxherd {

namespace {

/// Asymmetry of a pair's two paths: 0 if neither exists, 2 (the largest possible value) if only one does.
double asymmetry(double there, double back) {
  if (std::isinf(there) || std::isinf(back)) return there == back ? 0 : 2;
  return there + back > 0 ? std::abs(there - back) / ((there + back) / 2) : 0;
}

struct spread {
  double least, median, largest;
};

/// The smallest, middle and largest of some values, without sorting all of them.
spread find_spread(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return {*std::min_element(values.begin(), middle + 1), *middle, *std::max_element(middle, values.end())};
}

/// The place in the table of the cheaper of the two paths of each pair (row, column).
std::vector<std::size_t> find_cheaper_paths(const region_table& t) {
  std::vector<std::size_t> at(t.regions * t.regions);
  for (std::size_t i = 0; i < t.regions; ++i)
    for (std::size_t j = i; j < t.regions; ++j) at[i * t.regions + j] = at[j * t.regions + i] = cheaper_path(t, i, j);
  return at;
}

template <class Visit>
void each_pair(const region_table& t, const Visit& visit) {
  for (std::size_t i = 0; i < t.regions; ++i)
    for (std::size_t j = i + 1; j < t.regions; ++j)
      visit(static_cast<double>(t.cost[i * t.regions + j]), static_cast<double>(t.cost[j * t.regions + i]));
}

}  // namespace

std::vector<known_output> make_maps(const nearest_regions& n, const std::vector<std::int32_t>& labels,
                                    const std::string& unit) {
  const auto labels_of = [&](std::vector<std::int32_t> regions) {
    for (std::int32_t& r : regions) r = r < 0 ? 0 : labels[static_cast<std::size_t>(r)];
    return regions;
  };
  return {
      known_map("nearest_region", labels_of(n.first), "1", "label of the region with the least-cost path; 0: none"),
      known_map("first_cost", n.first_cost, unit, "cost of the path from there; infinite: none"),
      known_map("second_region", labels_of(n.second), "1", "label of the region with the second least cost; 0: none"),
      known_map("second_cost", n.second_cost, unit, "cost of the path from there; infinite: none")};
}

std::vector<constant> make_matrices(const region_table& t, const std::vector<std::int32_t>& labels,
                                    const std::string& unit) {
  const std::size_t n = t.regions;
  const auto matrix = [&](const char* name, const std::string& of, const char* meaning, auto value) {
    constant m{name, {n, n}, std::vector<double>(n * n), of, meaning, "connectome"};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) m.values[i * n + j] = value(i * n + j, j * n + i);
    return m;
  };
  const auto at = [](const std::vector<float>& of) {
    return [&of](std::size_t there, std::size_t) { return static_cast<double>(of[there]); };
  };
  const std::vector<std::size_t> path = find_cheaper_paths(t);
  const auto along_path = [&](const std::vector<float>& of) {
    return [&](std::size_t there, std::size_t) { return static_cast<double>(of[path[there]]); };
  };
  constant list{"labels", {n}, {}, "1", "label of each row and column", "connectome"};
  list.values.assign(labels.begin(), labels.end());
  return {
      list,
      matrix("cost", unit, "cost of the least-cost path from the region (row) to the region (column); infinite: none",
             at(t.cost)),
      matrix("mean_cost", unit, "mean cost of the least-cost path to each of the column's voxels", at(t.mean_cost)),
      matrix("length_mm", "mm", "length of the cheaper of the paths traced from either region",
             along_path(t.length_mm)),
      matrix("mean_speed", "mm/" + unit, "length_mm over cost; 0 where there is no path",
             [&](std::size_t there, std::size_t) {
               const double cost = t.cost[there];
               return cost > 0 && std::isfinite(cost) ? t.length_mm[path[there]] / cost : 0.0;
             }),
      matrix("path_cost", unit, "cost integrated along that path, to be compared with cost", along_path(t.path_cost)),
      matrix("detour", "1", "1 if that path costs more than 1.5 times as much as its arrival time: not to be relied on",
             [&](std::size_t there, std::size_t) {
               return is_detour(t.path_cost[path[there]], t.cost[path[there]]) ? 1.0 : 0.0;
             }),
      matrix("asymmetry", "1", "difference of the costs there and back over their mean: how exact they are",
             [&](std::size_t there, std::size_t back) { return asymmetry(t.cost[there], t.cost[back]); })};
}

namespace {

/// Of both directions; 0 where there is no path.
double mean_cost(const region_table& t, std::size_t i, std::size_t j) {
  const double sum = static_cast<double>(t.cost[i * t.regions + j]) + static_cast<double>(t.cost[j * t.regions + i]);
  return std::isfinite(sum) ? sum / 2 : 0;
}

/// What directions save: the isotropic cost over the cost.
std::vector<double> cost_ratios(const region_table& t, const region_table& isotropic) {
  std::vector<double> ratio(t.regions * t.regions, 0);
  for (std::size_t i = 0; i < t.regions; ++i)
    for (std::size_t j = 0; j < t.regions; ++j)
      if (const double cost = mean_cost(t, i, j); i != j && cost > 0)
        ratio[i * t.regions + j] = mean_cost(isotropic, i, j) / cost;
  return ratio;
}

}  // namespace

std::vector<constant> make_gain_matrices(const region_table& t, const region_table& isotropic,
                                         const std::string& unit) {
  const std::size_t n = t.regions;
  constant cost{"isotropic_cost", {n, n}, {}, unit, "cost with equal speeds in all directions; infinite: none",
                "connectome"};
  cost.values.assign(isotropic.cost.begin(), isotropic.cost.end());
  const std::vector<double> ratio = cost_ratios(t, isotropic);
  std::vector<double> best(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) best[i] = std::max(best[i], ratio[i * n + j]);
  constant gain{
      "gain",
      {n, n},
      {},
      "1",
      "isotropic_cost over cost, relative to the larger of both regions' best: 1 for a pair that is the best of "
      "both, 0 without a path",
      "connectome"};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double largest = std::max(best[i], best[j]);
      gain.values.push_back(largest > 0 ? ratio[i * n + j] / largest : 0);
    }
  return {cost, gain};
}

namespace {

/// How far the costs along the paths are from the arrival times that they should attain.
void log_path_costs(const region_table& t) {
  std::vector<double> ratios;
  std::size_t detours = 0;
  for (std::size_t i = 0; i < t.regions; ++i) {
    for (std::size_t j = i + 1; j < t.regions; ++j) {
      const std::size_t at = cheaper_path(t, i, j);
      if (is_detour(t.path_cost[at], t.cost[at])) ++detours;
      if (t.cost[at] > 0 && std::isfinite(t.path_cost[at])) ratios.push_back(t.path_cost[at] / t.cost[at]);
    }
  }
  if (ratios.empty()) return;
  const std::size_t paths = ratios.size();
  const spread found = find_spread(std::move(ratios));
  spdlog::info("path_cost over cost: median {:.3g}, largest {:.3g}", found.median, found.largest);
  if (detours > 0)
    spdlog::warn(
        "{} of {} paths cost more than {} times the arrival time; do not rely on cost and length of these "
        "pairs (`detour` is 1), or give a smaller --max-ratio or a larger --smooth",
        detours, paths, max_path_excess);
}

}  // namespace

void log_connectome(const region_table& t, const std::string& unit) {
  std::vector<double> costs, asymmetries;
  std::size_t without = 0;
  each_pair(t, [&](double there, double back) {
    if (std::isinf(there) || std::isinf(back)) {
      ++without;
      return;
    }
    costs.push_back((there + back) / 2);
    asymmetries.push_back(asymmetry(there, back));
  });
  spdlog::info("{} of regions: {} joined, {} without a path", counted(costs.size() + without, "pair"), costs.size(),
               without);
  if (costs.empty()) return;
  const spread cost = find_spread(std::move(costs)), difference = find_spread(std::move(asymmetries));
  spdlog::info("cost {:.4g} to {:.4g} {}, median {:.4g}; asymmetry median {:.2g} %, largest {:.2g} %", cost.least,
               cost.largest, unit, cost.median, 100 * difference.median, 100 * difference.largest);
  log_path_costs(t);
}

}  // namespace voxherd
