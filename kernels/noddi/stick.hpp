#pragma once

#include <type_traits>
#include <utility>

#include "kernels/portable/function.hpp"
#include "kernels/portable/lanes.hpp"

/// The signal of sticks as a series of polynomials, for any b-value.
namespace voxherd::noddi {

/// R_j(y) = (a y + b) R_(j-1) - c R_(j-2).
struct jacobi_step {
  double a, b, c;
};

constexpr jacobi_step make_jacobi_step(int j, int m) {
  const double n = j, p = m, q = -0.5, s = 2 * n + p + q;
  if (j == 1) return {(p + q + 2) / (2 * (p + 1)), 1 - (p + q + 2) / (2 * (p + 1)), 0};
  const double scale = 1 / (2 * n * (n + p + q) * (s - 2)), by_one = n / (n + p), by_two = (n - 1) / (n + p - 1);
  return {scale * by_one * (s - 1) * s * (s - 2), scale * by_one * (s - 1) * (p * p - q * q),
          scale * by_one * by_two * 2 * (n + p - 1) * (n + q - 1) * s};
}

template <class Work, int... I>
VOXHERD_INLINED void unrolled(const Work& work, std::integer_sequence<int, I...>) {
  (work(std::integral_constant<int, I>{}), ...);
}
/// work(i) for i = 0 ... Count - 1, each a compile-time constant.
template <int Count, class Work>
VOXHERD_INLINED void unrolled(const Work& work) {
  unrolled(work, std::make_integer_sequence<int, Count>{});
}

/// c_l = X_l a^(l/2) q_l / H: its recurrence (watson.hpp) for the denominators q_l of its ratios, which are positive.
struct stick_step {
  double by_a, by_square;  ///< q_(l-2) = (1 + by_a a) q_l + by_square a^2 q_(l+2)
  double factor;           ///< X_l
  double sum_factor;       ///< (2l+1) P_l(0) X_l, of H = sum of (2l+1) P_l(0) c_l H, which is 1 for t = 0
};

constexpr stick_step make_stick_step(int i) {
  const double l = 2 * i;
  stick_step s{2 / ((2 * l + 3) * (2 * l - 1)),
               4 * (l + 2) * (l + 1) / ((2 * l + 1) * (2 * l + 3) * (2 * l + 3) * (2 * l + 5)), 1, 2 * l + 1};
  for (int j = 2; j <= 2 * i; j += 2) {
    const double x = -2.0 * (j - 1) / ((2.0 * j - 1) * (2.0 * j + 1));
    s.factor *= x;
    s.sum_factor *= -x * (j - 1) / j;
  }
  return s;
}

template <class Real>
VOXHERD_INLINED Real constant(double value) {
  return Real(static_cast<typename lane::lane_traits<Real>::scalar>(value));
}

/// (2l+1) c_l(a) for l = 0, 2, ...
template <int Terms, class Real>
VOXHERD_INLINED void stick_moments(Real a, Real (&moment)[Terms]) {
  constexpr int first = Terms + 8;  // times two: the order from which the recurrence starts
  Real above(1), q(1), sum(0);
  const Real square = a * a;
  unrolled<first + 1>([&](auto down) {
    constexpr int i = first - decltype(down)::value;
    constexpr stick_step s = make_stick_step(i);
    sum = sum * a + q * constant<Real>(s.sum_factor);
    if constexpr (i < Terms) moment[i] = q;
    if constexpr (i > 0) {
      const Real below = (Real(1) + a * constant<Real>(s.by_a)) * q + square * constant<Real>(s.by_square) * above;
      above = q;
      q = below;
    }
  });
  Real power = Real(1) / sum;
  unrolled<Terms>([&](auto up) {
    constexpr int i = decltype(up)::value;
    moment[i] *= power * constant<Real>((4 * i + 1) * make_stick_step(i).factor);
    power *= a;
  });
}

}  // namespace voxherd::noddi
