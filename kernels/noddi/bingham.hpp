#pragma once

#include "kernels/noddi/stick.hpp"
#include "kernels/portable/exponential.hpp"

/// Sticks whose directions n have the Bingham distribution exp(kappa (mu.n)^2 + beta (fan.n)^2), 0 <= beta <= kappa
/// (Tariq 2016, NeuroImage 133:207). Along the axes fan, fan x mu, mu, by the addition theorem, the signal is
///   A = sum over even l and even m <= l of (2l+1) c_l(b d) N_lm Y_lm(g) <Y_lm(n)>,  c_l as in watson.hpp
///   Y_lm = Re (x + iy)^m R_lm(2 z^2 - 1),  R_lm: the Jacobi polynomial of degree (l-m)/2 to (m, -1/2), 1 at z = 1
/// Means over n are integrals over z by quadrature, because those over the azimuth are Bessel functions I_(m/2). With
/// beta = 0 all of them with m > 0 vanish: Watson. A saddlepoint approximation of the signal is wrong by up to 0.025.
namespace voxherd::noddi::bingham {

using noddi::stick_moments;

/// Orders 0, 2, ... of the series: error below 1e-5 up to this b d_par.
constexpr int terms = 12;
constexpr double max_b_times_d = 10;
/// Of (j, k): m = 2k, l = 2(j + k).
constexpr int coefficients = terms * (terms + 1) / 2;
constexpr int place(int j, int k) { return k * terms - k * (k - 1) / 2 + j; }
/// Points between z = 0 and 1: moments to 1e-9 for kappa up to 64.
constexpr int nodes = 32;
/// Bessel functions of arguments up to 32 start from this order.
constexpr int first_bessel_order = 48;

/// N_lm = (2 - [m = 0]) (l + m)! / ((l - m)! (2^m m!)^2).
constexpr double addition_factor(int j, int k) {
  double n = k > 0 ? 2 : 1;
  for (int i = 2 * j + 1; i <= 2 * j + 4 * k; ++i) n *= i;
  for (int i = 1; i <= 2 * k; ++i) n /= 4.0 * i * i;
  return n;
}

/// Gauss-Legendre quadrature over z from 0 to 1.
template <class Number>
struct node_table {
  Number square[nodes];  ///< 1 - z^2
  Number weight[nodes];
};
node_table<double> make_node_table();

/// Means over the distribution, and their derivatives by kappa and beta.
template <class Number, bool Slopes>
struct moments {
  static constexpr int slopes = Slopes ? coefficients : 1;
  Number mean[coefficients], by_kappa[slopes], by_beta[slopes];  ///< of Y_lm, times N_lm
};

/// Mean squares of the directions' components along the axes, from means of Y or derivatives of these.
template <class Number>
VOXHERD_FUNCTION inline void mean_squares(const Number* mean, Number one, Number (&square)[3]) {
  const Number difference = mean[place(0, 1)] / Number(addition_factor(0, 1));  // along x, less that along y
  square[2] = (one + 2 * mean[place(1, 0)]) / 3;
  square[0] = (one - square[2] + difference) / 2;
  square[1] = (one - square[2] - difference) / 2;
}

/// exp(-h) I_k(h) for h from 0 to beta / 2, by I_k = (h/2)^k / k! v_k with v_(k-1) = v_k + h^2/4 / (k (k+1)) v_(k+1),
/// where nothing cancels; exp(h) = I_0 + 2 (I_1 + I_2 + ...).
template <class Real>
VOXHERD_FUNCTION inline void scaled_bessel(Real h, Real (&value)[terms + 1]) {
  const Real half = h * constant<Real>(0.5), square = half * half;
  Real above(1), v(1), sum(1);
  VOXHERD_UNROLL
  for (int k = first_bessel_order; k > 0; --k) {
    if (k <= terms) value[k] = v;
    const Real below = v + square * constant<Real>(1.0 / (k * (k + 1))) * above;
    above = v;
    v = below;
    sum = k > 1 ? v + half * constant<Real>(1.0 / k) * sum : v + constant<Real>(2) * half * sum;
  }
  value[0] = v;
  Real power = Real(1) / sum;
  VOXHERD_UNROLL
  for (int k = 0; k <= terms; ++k) {
    value[k] *= power;
    power *= half * constant<Real>(1.0 / (k + 1));
  }
}

template <class Team>
constexpr int team_width() {
  if constexpr (requires { Team::lanes; })
    return Team::lanes;
  else
    return Team::width();
}

/// The moments of a distribution, by all lanes of a team, each with some of the nodes. Long: called, not inlined.
template <class Team, class Number, bool Slopes>
[[gnu::noinline]] VOXHERD_FUNCTION void find_moments(const Team& team, const node_table<Number>& table, Number kappa,
                                                     Number beta, moments<Number, Slopes>& m) {
  using real = typename Team::real;
  constexpr int slots = nodes / team_width<Team>();
  real square[slots], y[slots], power[slots], e[slots][terms + 1];  // power: of square, |(x + iy)^m|
  for (int i = 0; i < slots; ++i) {
    square[i] = team.load(table.square, i);
    y[i] = real(1) - real(2) * square[i];
    power[i] = real(1);
    scaled_bessel(real(beta / 2) * square[i], e[i]);
    const real weight = team.load(table.weight, i) * lane::exp(real(beta - kappa) * square[i]);
    VOXHERD_UNROLL
    for (int k = 0; k <= terms; ++k) e[i][k] *= weight;
  }
  team.sync();
  Number scale = 1;
  [[maybe_unused]] Number mean_by_kappa = 0, mean_by_beta = 0;  // of Y_00 = 1, before its scale
  unrolled<terms>([&](auto order) {
    constexpr int k = decltype(order)::value;
    real r[slots], before[slots];
    for (int i = 0; i < slots; ++i) r[i] = power[i], before[i] = real(0), power[i] *= square[i];
    unrolled<terms - k>([&](auto degree) {
      constexpr int j = decltype(degree)::value;
      real sum(0);
      [[maybe_unused]] real sum_by_kappa(0), sum_by_beta(0);
      for (int i = 0; i < slots; ++i) {
        if constexpr (j > 0) {
          constexpr jacobi_step s = make_jacobi_step(j, 2 * k);
          const real next = (constant<real>(s.a) * y[i] + constant<real>(s.b)) * r[i] - constant<real>(s.c) * before[i];
          before[i] = r[i];
          r[i] = next;
        }
        sum += e[i][k] * r[i];
        if constexpr (Slopes) {  // z^2 = 1 - square; x^2 = square (1 + cos(2 azimuth)) / 2
          const real weighted = square[i] * r[i];
          sum_by_kappa -= weighted * e[i][k];
          sum_by_beta += weighted * (constant<real>(0.5) * e[i][k] +
                                     constant<real>(0.25) * (e[i][k + 1] + e[i][k > 0 ? k - 1 : 1]));
        }
      }
      const Number total = team.sum(sum);
      if constexpr (j == 0 && k == 0) scale = 1 / total;
      constexpr Number factor = static_cast<Number>(addition_factor(j, k));
      const Number mean = total * scale;
      [[maybe_unused]] Number by_kappa = 0, by_beta = 0;
      if constexpr (Slopes) {
        by_kappa = team.sum(sum_by_kappa) * scale;
        by_beta = team.sum(sum_by_beta) * scale;
        if constexpr (j == 0 && k == 0) mean_by_kappa = by_kappa, mean_by_beta = by_beta;
      }
      team.once([&] {
        constexpr int at = place(j, k);
        m.mean[at] = factor * mean;
        if constexpr (Slopes) {
          m.by_kappa[at] = factor * (by_kappa - mean * mean_by_kappa);
          m.by_beta[at] = factor * (by_beta - mean * mean_by_beta);
        }
      });
    });
  });
  team.sync();
}

/// The signal of sticks and its derivatives by kappa, beta and the components of the gradient, with `moment` of
/// stick_moments().
template <class Real>
struct stick_signal {
  Real value, by_kappa, by_beta, by_x, by_y, by_z;
};

template <class Real, class Number, bool Slopes>
VOXHERD_INLINED stick_signal<Real> sum_series(const Real (&moment)[terms], const moments<Number, Slopes>& m, Real x,
                                              Real y, Real z) {
  stick_signal<Real> s{Real(0), Real(0), Real(0), Real(0), Real(0), Real(0)};
  const Real height = Real(2) * z * z - Real(1);
  const Real square = x * x - y * y, product = Real(2) * x * y;  // (x + iy)^2
  Real real_power = x, imaginary_power = y;                      // (x + iy)^(2k-1)
  unrolled<terms>([&](auto order) {
    constexpr int k = decltype(order)::value;
    Real r(1), before(0), sum(0);
    [[maybe_unused]] Real slope(0), slope_before(0), by_kappa(0), by_beta(0), by_height(0);
    unrolled<terms - k>([&](auto degree) {
      constexpr int j = decltype(degree)::value;
      constexpr int at = place(j, k);
      if constexpr (j > 0) {
        constexpr jacobi_step c = make_jacobi_step(j, 2 * k);
        const Real factor = constant<Real>(c.a) * height + constant<Real>(c.b);
        const Real next = factor * r - constant<Real>(c.c) * before;
        if constexpr (Slopes) {
          const Real next_slope = factor * slope + constant<Real>(c.a) * r - constant<Real>(c.c) * slope_before;
          slope_before = slope;
          slope = next_slope;
        }
        before = r;
        r = next;
      }
      const Real term = moment[j + k] * r;
      sum += term * Real(m.mean[at]);
      if constexpr (Slopes) {
        by_kappa += term * Real(m.by_kappa[at]);
        by_beta += term * Real(m.by_beta[at]);
        by_height += moment[j + k] * slope * Real(m.mean[at]);
      }
    });
    Real azimuthal(1);
    if constexpr (k > 0) {
      azimuthal = real_power * x - imaginary_power * y;
      if constexpr (Slopes) {
        s.by_x += constant<Real>(2 * k) * sum * real_power;
        s.by_y -= constant<Real>(2 * k) * sum * imaginary_power;
      }
      const Real next = real_power * square - imaginary_power * product;
      imaginary_power = real_power * product + imaginary_power * square;
      real_power = next;
    }
    s.value += azimuthal * sum;
    if constexpr (Slopes) {
      s.by_kappa += azimuthal * by_kappa;
      s.by_beta += azimuthal * by_beta;
      s.by_z += azimuthal * by_height;
    }
  });
  s.by_z *= Real(4) * z;
  return s;
}

}  // namespace voxherd::noddi::bingham
