#pragma once

#include <cmath>

#include "kernels/geodesic/finsler4.hpp"

namespace voxherd::geodesic {

/// Iterates over 160 unit vectors on a Fibonacci spiral over the half sphere z > 0 (each rotated from the previous one
/// by the golden angle). With their opposites these are 320 directions; every direction is within 8 degrees of one of
/// them.
class half_sphere {
 public:
  static constexpr int count = 160;

  VOXHERD_FUNCTION void next(double (&w)[3]) {
    const double z = 1 - (taken_ + 0.5) / count, r = std::sqrt(1 - z * z);
    w[0] = r * cosine_, w[1] = r * sine_, w[2] = z;
    ++taken_;
    constexpr double c = -0.73736887807831985597, s = 0.67549029426152362720;  // of the golden angle
    const double turned = c * cosine_ - s * sine_;
    sine_ = s * cosine_ + c * sine_;
    cosine_ = turned;
  }

 private:
  double cosine_ = 1, sine_ = 0;
  int taken_ = 0;
};

/// Whether all eigenvalues of the fundamental tensor g(v) exceed `margin` in 320 directions. F is a norm if they exceed
/// 0 in every direction.
VOXHERD_FUNCTION inline bool finsler4_convex(const double (&t)[quartic_size], double margin) {
  half_sphere directions;
  for (int i = 0; i < half_sphere::count; ++i) {
    double v[3], g[6];
    directions.next(v);
    const finsler4_at<double> at(t, v);
    if (!(at.q > 0)) return false;
    at.scaled_metric(g);
    const double floor = margin * std::sqrt(at.q);
    g[0] -= floor, g[3] -= floor, g[5] -= floor;
    const double minor = g[0] * g[3] - g[1] * g[1];
    const double determinant = minor * g[5] - g[0] * g[4] * g[4] + 2 * g[1] * g[2] * g[4] - g[3] * g[2] * g[2];
    if (!(g[0] > 0 && minor > 0 && determinant > 0)) return false;
  }
  return true;
}

/// Mixes the smallest part of the Euclidean norm |v|^4 into `t` that makes its fundamental tensor exceed `margin`
/// (below 1): t becomes (1 - part) t + part |v|^4. Returns the part, a multiple of 1/256; 0 if nothing had to be done.
/// Sums of such tensors are convex again (F is then an l4 norm of norms), so that the valid parts form an interval up
/// to 1, whose end is found by bisection.
VOXHERD_FUNCTION inline double finsler4_make_convex(double (&t)[quartic_size], double margin) {
  if (finsler4_convex(t, margin)) return 0;
  constexpr double unit[6] = {1, 0, 0, 1, 0, 1};
  double round[quartic_size], mixed[quartic_size];
  quartic_of_metric(unit, round);
  const auto mix = [&](double part) {
    for (int n = 0; n < quartic_size; ++n) mixed[n] = (1 - part) * t[n] + part * round[n];
  };
  int too_little = 0, enough = 256;
  while (enough - too_little > 1) {
    const int middle = (enough + too_little) / 2;
    mix(middle / 256.0);
    (finsler4_convex(mixed, margin) ? enough : too_little) = middle;
  }
  mix(enough / 256.0);
  // A tensor that is not finite does not enter the mixture.
  for (int n = 0; n < quartic_size; ++n) t[n] = enough == 256 ? round[n] : mixed[n];
  return enough / 256.0;
}

}  // namespace voxherd::geodesic
