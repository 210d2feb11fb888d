#include "src/tools/report/distribution.hpp"

#include <algorithm>
#include <cmath>

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
  const auto quantile = [&](double q) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
    std::nth_element(sorted_to, place, values.end());
    sorted_to = place;
    return static_cast<double>(*place);
  };
  d.min = quantile(0);
  d.q02 = quantile(0.02);
  d.q25 = quantile(0.25);
  d.median = quantile(0.5);
  d.q75 = quantile(0.75);
  d.q98 = quantile(0.98);
  d.max = quantile(1);
  return d;
}

nlohmann::json as_json(const distribution& d) {
  return {{"values", d.values}, {"not_finite", d.not_finite},
          {"min", d.min},       {"q02", d.q02},
          {"q25", d.q25},       {"median", d.median},
          {"q75", d.q75},       {"q98", d.q98},
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

}  // namespace voxherd::report
