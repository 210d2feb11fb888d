#include "src/analyses/connect/intervals.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace voxherd {

namespace {

double quantile(const std::vector<float>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double low = static_cast<double>(sorted[below]), high = static_cast<double>(sorted[above]);
  const double rest = place - static_cast<double>(below);
  return rest == 0 || low == high ? low : low + rest * (high - low);
}

std::vector<constant> make_constants(const std::vector<replicate_summary>& all, const std::vector<std::uint64_t>& shape,
                                     const connect_inputs& in) {
  const std::string unit = cost_unit(in.options.how), group = in.options.connectome ? "connectome" : "pathway";
  const auto column = [&](const char* name, const std::string& of, std::string meaning, auto value) {
    constant c{name, shape, {}, of, std::move(meaning), group};
    for (const replicate_summary& r : all) c.values.push_back(value(r));
    return c;
  };
  const std::string end = fmt::format("end of the cost's {:g} % interval: percentile of the bootstrap's replicates",
                                      in.options.bootstrap.interval_percent);
  return {column("cost_low", unit, "lower " + end, [](const auto& r) { return r.low; }),
          column("cost_high", unit, "upper " + end, [](const auto& r) { return r.high; }),
          column("cost_mean", unit, "mean cost of the replicates", [](const auto& r) { return r.mean; }),
          column("cost_sd", unit, "standard deviation of the replicates' costs", [](const auto& r) { return r.sd; }),
          column("cost_replicates", "1", "replicates in which a path leads there",
                 [](const auto& r) { return static_cast<double>(r.valid); })};
}

void log_pathway(const replicate_summary& r, const connect_inputs& in) {
  const auto& b = in.options.bootstrap;
  spdlog::info("bootstrap of {}: cost {:.5g} to {:.5g} {} ({:g} % interval), mean {:.5g}, deviation {:.3g}",
               b.replicates, r.low, r.high, cost_unit(in.options.how), b.interval_percent, r.mean, r.sd);
}

void log_connectome(const std::vector<replicate_summary>& all, std::size_t regions, const connect_inputs& in) {
  std::vector<double> relative;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i / regions != i % regions && all[i].mean > 0 && std::isfinite(all[i].sd))
      relative.push_back(all[i].sd / all[i].mean);
  if (relative.empty()) return;
  const auto middle = relative.begin() + static_cast<std::ptrdiff_t>(relative.size() / 2);
  std::nth_element(relative.begin(), middle, relative.end());
  spdlog::info(
      "bootstrap, {} replicates: half of the costs between regions have a standard deviation below {:.2g} % of their "
      "mean",
      in.options.bootstrap.replicates, 100 * *middle);
}

}  // namespace

replicate_summary summarise(std::vector<float>& costs, double percent) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  std::sort(costs.begin(), costs.end());
  const double tail = (1 - percent / 100) / 2;
  replicate_summary r{quantile(costs, tail), quantile(costs, 1 - tail), nothing, nothing, 0};
  const auto end = std::find_if(costs.begin(), costs.end(), [](float c) { return std::isinf(c); });
  r.valid = static_cast<std::uint64_t>(end - costs.begin());
  if (r.valid == 0) return r;
  const double n = static_cast<double>(r.valid);
  r.mean = std::accumulate(costs.begin(), end, 0.0) / n;
  const double squares = std::accumulate(costs.begin(), end, 0.0, [&](double sum, float cost) {
    const double difference = static_cast<double>(cost) - r.mean;
    return sum + difference * difference;
  });
  if (r.valid > 1) r.sd = std::sqrt(squares / (n - 1));
  return r;
}

void refuse_too_many_costs(const connect_inputs& in) {
  constexpr double most = 16e9;
  const std::size_t regions = in.labels.size();
  const double bytes = 4.0 * static_cast<double>(in.options.bootstrap.replicates * regions * regions);
  if (in.options.connectome && bytes > most)
    throw failure(exit_status::usage,
                  fmt::format("--bootstrap {} of {} regions: the replicates' costs take {:.0f} GB, expected at most "
                              "{:.0f}; give fewer replicates, or fewer --labels",
                              in.options.bootstrap.replicates, regions, 1e-9 * bytes, 1e-9 * most));
}

std::vector<constant> interval_constants(const result_reader& step, const connect_inputs& in) {
  const std::uint64_t replicates = step.item_voxels().size();
  const std::vector<std::uint64_t> shape = step.output("cost").shape;
  const std::vector<float> rows = step.read_rows<float>("cost", 0, replicates);
  const std::size_t width = rows.size() / replicates;
  std::vector<replicate_summary> all(width);
  std::vector<float> costs(replicates);
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t r = 0; r < replicates; ++r) costs[r] = rows[r * width + i];
    all[i] = summarise(costs, in.options.bootstrap.interval_percent);
  }
  std::vector<constant> constants = make_constants(all, shape, in);
  if (in.options.connectome) {
    log_connectome(all, shape[0], in);
    return constants;
  }
  log_pathway(all[0], in);
  constants.push_back({"replicate_cost",
                       {replicates},
                       {rows.begin(), rows.end()},
                       cost_unit(in.options.how),
                       "of the cheapest path in each replicate",
                       "pathway"});
  return constants;
}

}  // namespace voxherd
