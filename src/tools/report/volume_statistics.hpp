#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace voxherd::report {

/// Standard deviation of the noise of a volume, from the differences between voxels and the mean of their six
/// neighbours (Coupé et al. 2008, section II-D), robust against edges. `voxels`: those that are looked at. 0 if there
/// are too few.
double estimate_noise(std::span<const float> volume, const std::uint64_t (&size)[3],
                      std::span<const std::uint64_t> voxels);

/// The value that separates dark and bright voxels best (Otsu 1979), from a histogram up to the 98th percentile.
double bright_threshold(std::vector<float> values);

double median(std::vector<double> values);

}  // namespace voxherd::report
