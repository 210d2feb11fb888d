#pragma once

#include "kernels/noddi/fit_problem.hpp"
#include "kernels/noddi/protocol.hpp"
#include "kernels/noddi/watson_model.hpp"
#include "kernels/voxel_model/model_fit.hpp"
#include "kernels/voxel_model/tensor_start.hpp"

namespace voxherd::noddi {

/// A best fit, in the order of watson_model and watson_dot_model.
template <bool Dot>
using fit_result = voxel_model::model_result<Dot ? 4 : 3>;

/// The measurements that a tensor describes: b = 0 and low b-values.
template <class Measurements, class Real>
struct tensor_measurements {
  const Measurements& m;

  VOXHERD_FUNCTION int slots() const { return m.slots(); }
  VOXHERD_FUNCTION void load(int slot, Real (&q)[3], Real& signal, Real& weight) const {
    const measurement<Real> one = m.load(slot);
    const Real root = lane::sqrt(one.b) * one.low_b;
    q[0] = one.x * root, q[1] = one.y * root, q[2] = one.z * root;
    signal = one.signal;
    weight = one.low_b;
  }
};

namespace detail {

/// Amplitudes of tissue and fluid, not negative, with the least squares; `explained`: the decrease of the sum.
struct two_amplitudes {
  double tissue, fluid, explained;
};

VOXHERD_FUNCTION inline two_amplitudes solve_amplitudes(double tt, double tf, double ff, double ty, double fy) {
  const double determinant = tt * ff - tf * tf;
  double tissue = ty * ff - fy * tf, fluid = fy * tt - ty * tf;
  if (tissue > 0 && fluid > 0 && determinant > 1e-12 * tt * ff) {
    tissue /= determinant;
    fluid /= determinant;
  } else {
    const double of_tissue = ty / tt, of_fluid = fy / ff;
    const bool is_tissue = of_tissue * ty >= of_fluid * fy;
    tissue = is_tissue ? of_tissue : 0;
    fluid = is_tissue ? 0 : of_fluid;
  }
  return {tissue, fluid, tissue * ty + fluid * fy};
}

}  // namespace detail

/// The best point of the grid for this axis.
template <int Terms, bool Dot, class Team, class Measurements>
VOXHERD_FUNCTION inline fit_point<Dot> start_from_grid(const Team& team, const Measurements& m, const fit_tables& t,
                                                       const double (&axis)[3], double signal_scale) {
  using real = typename Team::real;
  using shape = fit_shape<Dot>;
  real ff_lanes(0.0), fy_lanes(0.0);
  for (int slot = 0; slot < m.slots(); ++slot) {
    const measurement<real> one = m.load(slot);
    const real fluid = one.isotropic * one.weight;
    ff_lanes += fluid * fluid;
    fy_lanes += fluid * one.signal;
  }
  const double ff = team.sum(ff_lanes), fy = team.sum(fy_lanes) / signal_scale;
  double best = -1;
  fit_point<Dot> p{};
  for (int i = 0; i < grid_odis; ++i) {
    real tt[grid_ndis], tf[grid_ndis], ty[grid_ndis];
    VOXHERD_UNROLL
    for (int k = 0; k < grid_ndis; ++k) tt[k] = tf[k] = ty[k] = real(0.0);
    const double tau = t.grid_mean_square[i];
    const double* const coefficients = t.grid_coefficient + i * t.shells * Terms;
    for (int slot = 0; slot < m.slots(); ++slot) {
      const measurement<real> one = m.load(slot);
      const real cosine = one.x * real(axis[0]) + one.y * real(axis[1]) + one.z * real(axis[2]);
      const real u = cosine * cosine, y = real(2.0) * u - real(1.0);
      const auto at = m.coefficient(slot);
      real intra = at(coefficients, Terms - 1);
      VOXHERD_UNROLL
      for (int j = Terms - 2; j >= 0; --j) intra = intra * y + at(coefficients, j);
      const real bd = one.b * real(t.d_par);
      const real across = real(1.0) - real((1 - tau) / 2) - u * real((3 * tau - 1) / 2);
      real extra = lane::exp(-bd * (real(1.0) - real(first_grid_ndi) * across));
      const real growth = lane::exp(bd * across * real(grid_ndi_step));
      const real measured = one.signal * real(1 / signal_scale);
      VOXHERD_UNROLL
      for (int k = 0; k < grid_ndis; ++k) {
        const double ndi = first_grid_ndi + k * grid_ndi_step;
        const real tissue = (real(ndi) * intra + real(1 - ndi) * extra) * one.weight;
        tt[k] += tissue * tissue;
        tf[k] += tissue * one.isotropic;
        ty[k] += tissue * measured;
        extra *= growth;
      }
    }
    VOXHERD_UNROLL
    for (int k = 0; k < grid_ndis; ++k) {
      const auto a = detail::solve_amplitudes(team.sum(tt[k]), team.sum(tf[k]), ff, team.sum(ty[k]), fy);
      if (!(a.explained > best)) continue;
      best = a.explained;
      const double s0 = a.tissue + a.fluid;
      p.linear[shape::s0] = s0 > 1e-3 ? s0 : 1e-3;
      const double fwf = a.fluid / (s0 > 0 ? s0 : 1);
      p.linear[shape::fwf] = fwf < 0.02 ? 0.02 : fwf > 0.98 ? 0.98 : fwf;  // at a bound the derivative is one-sided
      p.linear[shape::ndi] = first_grid_ndi + k * grid_ndi_step;
      p.linear[shape::odi] = grid_odi(i);
    }
  }
  if constexpr (Dot) p.linear[shape::dot] = 0.05;
  p.axis = voxel_model::oriented(axis[0], axis[1], axis[2]);
  return p;
}

/// The best fit of one voxel by one team: axis of a tensor, grid of ODI and NDI, Levenberg-Marquardt.
template <int Terms, bool Dot, class Team, class Measurements, class Scratch>
VOXHERD_FUNCTION inline fit_result<Dot> fit_voxel(const Team& team, const Measurements& m, const fit_tables& t,
                                                  const fit_coefficients& own, noise_model noise, double known_sigma,
                                                  Scratch& scratch) {
  using real = typename Team::real;
  using shape = fit_shape<Dot>;
  using problem = fit_problem<Team, Measurements, Terms, Dot>;
  real sum(0.0);
  for (int slot = 0; slot < m.slots(); ++slot) {
    const measurement<real> one = m.load(slot);
    sum += lane::max(one.signal, -one.signal) * one.weight;
  }
  const double mean = team.sum(sum) / m.count();
  const double scale = mean > 0 ? mean : 1;
  const auto tensor = voxel_model::start_from_tensor(team, tensor_measurements<Measurements, real>{m}, scale, scratch);
  fit_point<Dot> p = start_from_grid<Terms, Dot>(team, m, t, tensor.axis[0], scale);
  problem signal_problem(team, m, t, own, scale);
  const voxel_model::minimiser<Team, problem, Scratch> minimiser(team, signal_problem, scratch);
  double cost = minimiser.minimise(p);
  fit_result<Dot> r{};
  if (noise == noise_model::rician) {
    const double variance = voxel_model::minimise_rician(minimiser, signal_problem, p,
                                                         known_sigma * known_sigma / (scale * scale), cost, m.count());
    r.sigma = std::sqrt(variance) * scale;
    signal_problem.set_variance(0);
    cost = minimiser.evaluate(p);
  }
  r.residual = std::sqrt(cost / m.count()) * scale;
  constexpr int n = Dot ? 4 : 3;
  r.value[watson_model::fwf] = p.linear[shape::fwf];
  r.value[watson_model::ndi] = p.linear[shape::ndi];
  r.value[watson_model::odi] = p.linear[shape::odi];
  if constexpr (Dot) r.value[watson_dot_model::dot] = p.linear[shape::dot];
  r.value[n] = p.linear[shape::s0] * scale;
  for (int i = 0; i < 3; ++i) {
    r.axes.axis[0][i] = p.axis.u[i];
    r.axes.axis[1][i] = p.axis.v[i];
    r.axes.axis[2][i] = p.axis.along[i];
  }
  return r;
}

}  // namespace voxherd::noddi
