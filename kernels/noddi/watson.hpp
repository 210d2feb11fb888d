#pragma once

#include <cmath>

#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"

/// Sticks whose directions n have the Watson distribution exp(kappa (mu.n)^2). With x = g.mu the signal is
///   A = sum over even l of (2l+1) c_l(b d) w_l(kappa) P_l(x),   c_l(a) = integral of exp(-a t^2) P_l(t) from 0 to 1,
/// and w_l(kappa) = c_l(-kappa) / c_0(-kappa) (Funk-Hecke). Integration by parts gives a recurrence over three orders
/// whose minimal solution is c_l, so its ratios come from running it downwards (Miller): no special functions, and no
/// case for small kappa.
namespace voxherd::noddi {

/// The largest order that the recurrence starts from: relative error 1e-15 for kappa up to 64 and b d up to 17.5.
constexpr int first_order = 96;

/// c_l(a) / c_0(a) for l = 0, 2, ... 2 (Count - 1).
template <int Count>
VOXHERD_FUNCTION inline void legendre_moments(double a, double* moment) {
  constexpr int last = 2 * (Count - 1);
  static_assert(last < first_order);
  // r_l = c_(l+2) / c_l = p / q; r_(l-2) = x q / (y q - z p). Above `last` without divisions, and scaled, because q
  // grows.
  double p = 0, q = 1;
  for (int l = first_order; l > last; l -= 2) {
    const double n = l;
    constexpr double scale = 1e-6;
    const double x = -2 * a * (n - 1) * (2 * n + 3), y = (2 * n + 1) * ((2 * n + 3) * (2 * n - 1) + 2 * a),
                 z = 2 * a * (n + 2) * (2 * n - 1), next = y * q - z * p;
    p = x * q * scale;
    q = next * scale;
  }
  double ratio = p / q;
  for (int l = last; l >= 2; l -= 2) {
    const double n = l;
    ratio = -2 * a * (n - 1) * (2 * n + 3) /
            ((2 * n + 1) * ((2 * n + 3) * (2 * n - 1) + 2 * a) - 2 * a * (n + 2) * (2 * n - 1) * ratio);
    moment[l / 2] = ratio;
  }
  moment[0] = 1;
  for (int i = 1; i < Count; ++i) moment[i] *= moment[i - 1];
}

/// Order 2i: the derivative by kappa of its moment w_i, from moments that include order 2i + 2.
/// t^2 P_l = alpha P_(l+2) + beta P_l + gamma P_(l-2).
template <class Number>
VOXHERD_FUNCTION inline Number moment_slope(const Number* w, int i) {
  const auto l = static_cast<Number>(2 * i);
  const Number alpha = (l + 1) * (l + 2) / ((2 * l + 1) * (2 * l + 3));
  const Number beta = (2 * l * l + 2 * l - 1) / ((2 * l - 1) * (2 * l + 3));
  const Number gamma = l * (l - 1) / ((2 * l + 1) * (2 * l - 1));
  const Number mean_square = (1 + 2 * w[1]) / 3;
  return alpha * w[i + 1] + (beta - mean_square) * w[i] + (i > 0 ? gamma * w[i - 1] : 0);
}

/// Orientation dispersion index (2/pi) atan(1/kappa) and back.
VOXHERD_FUNCTION inline double kappa_of(double odi) { return 1 / std::tan(1.5707963267948966 * odi); }
VOXHERD_FUNCTION inline double odi_of(double kappa) { return 0.6366197723675814 * std::atan2(1.0, kappa); }
/// d kappa / d ODI.
VOXHERD_FUNCTION inline double kappa_slope(double kappa) { return -1.5707963267948966 * (1 + kappa * kappa); }

}  // namespace voxherd::noddi
