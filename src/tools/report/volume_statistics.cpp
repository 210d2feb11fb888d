#include "src/tools/report/volume_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "src/tools/report/distribution.hpp"

namespace voxherd::report {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
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
