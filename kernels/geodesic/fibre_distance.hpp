#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/geodesic/ranking.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"

namespace voxherd::geodesic {

inline constexpr std::size_t sketch_floats = 3 * sketch_points;

/// A fibre resampled to `sketch_points` points, world mm, and their mean.
struct sketch {
  float point[sketch_points][3];
  float mean[3];
};

VOXHERD_FUNCTION inline float squared_distance(const float* a, const float* b) {
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return lane::fma(z, z, lane::fma(y, y, x * x));
}

VOXHERD_FUNCTION inline void mean_point(const float* points, float (&mean)[3]) {
  mean[0] = mean[1] = mean[2] = 0;
  VOXHERD_UNROLL
  for (std::size_t i = 0; i < sketch_floats; ++i) mean[i % 3] += points[i];
  for (float& x : mean) x *= 1.0f / static_cast<float>(sketch_points);
}

/// Whether two fibres are nearer than a distance: minimum average direct-flip distance (MDF: Garyfallidis et al., Front
/// Neurosci 6:175, 2012), the smaller of the mean distances of points in order and in reverse order. Every product is
/// an explicit fma and square roots round correctly, so that CPU and GPU decide alike. Positions that are not numbers
/// are near to nothing.
class fibre_nearness {
 public:
  explicit fibre_nearness(double distance_mm)
      : largest_sum_(static_cast<float>(static_cast<double>(sketch_points) * distance_mm)) {
    // The mean distance of points is at least the distance of their means, in either order. The margin is far above
    // rounding errors: 1e-4 mm for positions of some hundreds of mm.
    const double apart = 1.001 * distance_mm + 0.01;
    largest_squared_ = static_cast<float>(apart * apart);
  }

  VOXHERD_FUNCTION bool operator()(const sketch& a, const float* b, const float* mean_of_b) const {
    if (squared_distance(a.mean, mean_of_b) > largest_squared_) return false;
    return nearer(a, b, false) || nearer(a, b, true);
  }

 private:
  VOXHERD_FUNCTION bool nearer(const sketch& a, const float* b, bool reversed) const {
    constexpr std::size_t n = sketch_points;
    float sum = 0;
    VOXHERD_UNROLL
    for (std::size_t i = 0; i < n; ++i) {
      sum += std::sqrt(squared_distance(a.point[i], b + 3 * (reversed ? n - 1 - i : i)));
      if (sum >= largest_sum_) return false;  // the sum only grows
    }
    return sum < largest_sum_;
  }

  float largest_sum_, largest_squared_;
};

}  // namespace voxherd::geodesic
