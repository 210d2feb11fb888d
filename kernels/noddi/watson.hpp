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

/// c_l(a) / c_0(a) for l = 0, 2, ... 2 (Count - 1). `Number`: float or double.
template <int Count, class Number>
VOXHERD_FUNCTION inline void legendre_moments(Number a, Number* moment) {
  static_assert(2 * Count < first_order);
  // r_l = c_(l+2) / c_l
  Number ratio = 0;
  for (int l = first_order; l >= 2; l -= 2) {
    const auto n = static_cast<Number>(l);
    const Number down = (2 * n + 1) * (1 + 2 * a / ((2 * n + 3) * (2 * n - 1))) - 2 * a * (n + 2) / (2 * n + 3) * ratio;
    ratio = -2 * a * (n - 1) / (2 * n - 1) / down;
    if (l <= 2 * (Count - 1)) moment[l / 2] = ratio;
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
