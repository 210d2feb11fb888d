#include "src/show/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace voxherd::report {

distribution describe_values(std::vector<float> values) {
  distribution d;
  const auto end = std::remove_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  d.not_finite = static_cast<std::uint64_t>(values.end() - end);
  values.erase(end, values.end());
  d.values = values.size();
  if (values.empty()) return d;
  for (const float v : values) d.mean += static_cast<double>(v) / static_cast<double>(values.size());
  auto sorted_to = values.begin();  // what precedes is not larger than what follows
  const auto ordered = [&](std::size_t n) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(n);
    if (place < sorted_to) return static_cast<double>(*place);  // asked for before: n never decreases by more than 1
    std::nth_element(sorted_to, place, values.end());
    sorted_to = place;
    return static_cast<double>(*place);
  };
  // Between two values as numpy's quantile().
  const auto quantile = [&](double q) {
    const double place = q * static_cast<double>(values.size() - 1), below = std::floor(place);
    const auto n = static_cast<std::size_t>(below);
    const double low = ordered(n);
    return place == below ? low : std::lerp(low, ordered(n + 1), place - below);
  };
  d.min = quantile(0);
  d.q02 = quantile(0.02);
  d.q05 = quantile(0.05);
  d.q25 = quantile(0.25);
  d.median = quantile(0.5);
  d.q75 = quantile(0.75);
  d.q95 = quantile(0.95);
  d.q98 = quantile(0.98);
  d.max = quantile(1);
  return d;
}

std::vector<distribution> describe_all(std::vector<std::vector<float>> values) {
  std::vector<distribution> all(values.size());
  const auto n = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    all[at] = describe_values(std::move(values[at]));
  }
  return all;
}

nlohmann::json as_json(const distribution& d) {
  return {{"values", d.values}, {"not_finite", d.not_finite},
          {"min", d.min},       {"q02", d.q02},
          {"q05", d.q05},       {"q25", d.q25},
          {"median", d.median}, {"q75", d.q75},
          {"q95", d.q95},       {"q98", d.q98},
          {"max", d.max},       {"mean", d.mean}};
}

histogram count_values(std::span<const float> values, double first, double last, std::size_t bins) {
  histogram h{first, last, std::vector<std::uint64_t>(bins)};
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    if (v < first) {
      ++h.below;
    } else if (v > last) {
      ++h.above;
    } else {
      const double bin = (static_cast<double>(v) - first) / (last - first) * static_cast<double>(bins);
      ++h.counts[std::min(bins - 1, static_cast<std::size_t>(bin))];
    }
  }
  return h;
}

nlohmann::json as_json(const histogram& h) {
  return {{"first", h.first}, {"last", h.last}, {"counts", h.counts}, {"below", h.below}, {"above", h.above}};
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double estimate_noise(std::span<const float> volume, const std::uint64_t (&size)[3],
                      std::span<const std::uint64_t> voxels) {
  constexpr double normal = 1.4826;  // standard deviation per median of absolute deviations
  constexpr std::size_t enough = 50000, min_voxels = 100;
  const std::uint64_t step[3] = {1, size[0], size[0] * size[1]};
  const std::size_t stride = std::max<std::size_t>(1, voxels.size() / enough);
  std::vector<double> differences;
  for (std::size_t i = 0; i < voxels.size(); i += stride) {
    const std::uint64_t v = voxels[i], place[3] = {v % size[0], v / step[1] % size[1], v / step[2]};
    double sum = 0;
    int neighbours = 0;
    for (int a = 0; a < 3; ++a) {
      if (place[a] == 0 || place[a] + 1 >= size[a]) continue;
      sum += static_cast<double>(volume[v - step[a]]) + static_cast<double>(volume[v + step[a]]);
      neighbours += 2;
    }
    if (neighbours == 0) continue;
    const double n = neighbours, difference = static_cast<double>(volume[v]) - sum / n;
    if (std::isfinite(difference)) differences.push_back(std::fabs(difference) * std::sqrt(n / (n + 1)));
  }
  return differences.size() < min_voxels ? 0 : normal * median(std::move(differences));
}

double bright_threshold(std::vector<float> values) {
  constexpr std::size_t bins = 256;
  std::erase_if(values, [](float v) { return !std::isfinite(v); });
  if (values.empty()) return 0;
  const distribution q = describe_values(values);
  const double first = q.min, last = q.q98 > first ? q.q98 : first + 1;
  const histogram h = count_values(values, first, last, bins);
  double all = 0, sum = 0, below = 0, sum_below = 0, best = -1, threshold = first;
  for (std::size_t i = 0; i < bins; ++i) {
    all += static_cast<double>(h.counts[i]);
    sum += static_cast<double>(h.counts[i]) * static_cast<double>(i);
  }
  for (std::size_t i = 0; i + 1 < bins; ++i) {
    below += static_cast<double>(h.counts[i]);
    sum_below += static_cast<double>(h.counts[i]) * static_cast<double>(i);
    if (below == 0 || below == all) continue;
    const double difference = sum_below / below - (sum - sum_below) / (all - below);
    const double between = below * (all - below) * difference * difference;
    if (between > best) best = between, threshold = h.edge(i + 1);
  }
  return threshold;
}

}  // namespace voxherd::report
