#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

namespace voxherd::report {

/// How the finite values of an output are distributed.
struct distribution {
  std::uint64_t values = 0, not_finite = 0;
  double min = 0, q02 = 0, q05 = 0, q25 = 0, median = 0, q75 = 0, q95 = 0, q98 = 0, max = 0, mean = 0;
};

/// Quantiles are linear between the two nearest values, as numpy's.
distribution describe_values(std::vector<float> values);
/// The same of several, on all cores.
std::vector<distribution> describe_all(std::vector<std::vector<float>> values);
nlohmann::json as_json(const distribution& d);

/// Counts in bins of equal width from `first` to `last`, which belongs to the last bin, and outside.
struct histogram {
  double first = 0, last = 1;
  std::vector<std::uint64_t> counts;
  std::uint64_t below = 0, above = 0;

  double edge(std::size_t i) const {
    return first + (last - first) * static_cast<double>(i) / static_cast<double>(counts.size());
  }
};
histogram count_values(std::span<const float> values, double first, double last, std::size_t bins);
nlohmann::json as_json(const histogram& h);

/// Standard deviation of the noise of a volume, from the differences between voxels and the mean of their six
/// neighbours (Coupé et al. 2008, section II-D), robust against edges. `voxels`: the voxels to use. 0 if there
/// are too few.
double estimate_noise(std::span<const float> volume, const std::uint64_t (&size)[3],
                      std::span<const std::uint64_t> voxels);

/// The value that separates dark and bright voxels best (Otsu 1979), from a histogram up to the 98th percentile.
double bright_threshold(std::vector<float> values);

double median(std::vector<double> values);

}  // namespace voxherd::report
