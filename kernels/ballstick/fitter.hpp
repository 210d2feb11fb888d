#pragma once

#include "kernels/ballstick/fit_engine.hpp"
#include "kernels/voxel_model/tensor_start.hpp"

namespace voxherd::ballstick {

/// A least-squares fit, inside the sampler's support, fibres in descending order of fraction.
template <int Fibres>
struct fit_result {
  double s0 = 0, d = 0, d_std = 0;  ///< unit of the signal; mm2/s
  double f0 = 0, tau = 0;           ///< tau: 1 / variance of the residuals
  double sum_of_squares = 0;
  double f[Fibres] = {}, th[Fibres] = {}, ph[Fibres] = {};
};

namespace fitting {

using voxel_model::start_from_tensor;
using voxel_model::tensor_start;

/// Converts b in s/mm2 to ms/um2, so that diffusivities of tissue are near 1.
constexpr double ms_per_um2 = 1e-3, mm2_per_s = 1e-3;
constexpr double small_unattenuated = 1e-3;
/// A model with f0 is rejected if it explains signal that no fibre can explain (bedpostX's limits).
constexpr double min_first_fraction = 0.05, max_unattenuated = 0.4;
template <class Shape>
VOXHERD_FUNCTION inline point<Shape> first_point(const tensor_start& tensor) {
  point<Shape> p{};
  p.linear[Shape::ball] = 0.5 * tensor.s0;
  p.linear[Shape::d] = tensor.d;
  if constexpr (Shape::has_scale) p.linear[Shape::scale] = 0.2 * tensor.d;
  if constexpr (Shape::unattenuated) p.linear[Shape::still] = 0.02 * tensor.s0;
  VOXHERD_UNROLL
  for (int k = 0; k < Shape::fibres; ++k) {
    p.linear[Shape::sticks + k] = 0.5 * tensor.s0 / Shape::fibres;
    p.fibre[k] = oriented(tensor.axis[k][0], tensor.axis[k][1], tensor.axis[k][2]);
  }
  return p;
}

template <class Shape>
VOXHERD_FUNCTION inline fit_result<Shape::fibres> described(const point<Shape>& p, double signal_scale, double sum,
                                                            int count) {
  fit_result<Shape::fibres> r;
  double total = 0;
  for (int i = 0; i < Shape::amplitudes; ++i) total += p.linear[i];
  r.s0 = total * signal_scale;
  r.d = p.linear[Shape::d] * mm2_per_s;
  if constexpr (Shape::has_scale) r.d_std = std::sqrt(p.linear[Shape::d] * p.linear[Shape::scale]) * mm2_per_s;
  if constexpr (Shape::unattenuated) r.f0 = p.linear[Shape::still] / total;
  r.sum_of_squares = sum * signal_scale * signal_scale;
  r.tau = (count - 1) / lane::max(r.sum_of_squares, no_residual * count * signal_scale * signal_scale);
  VOXHERD_UNROLL
  for (int k = 0; k < Shape::fibres; ++k) {
    int rank = 0;
    const double f = p.linear[Shape::sticks + k];
    VOXHERD_UNROLL
    for (int j = 0; j < Shape::fibres; ++j) {
      const double other = p.linear[Shape::sticks + j];
      rank += other > f || (other == f && j < k) ? 1 : 0;
    }
    const orientation& o = p.fibre[k];
    r.f[rank] = f / total;
    r.th[rank] = std::acos(lane::min(lane::max(o.along[2], -1.0), 1.0));
    r.ph[rank] = std::atan2(o.along[1], o.along[0]);
  }
  return r;
}

/// A fourth fibre has several diagonals as starts, and the sum of squares several minima: the better of two is kept.
template <class Shape, class Team, class Measurements, class Scratch>
VOXHERD_FUNCTION inline fit_result<Shape::fibres> fit_shape(const Team& team, const Measurements& m, double scale,
                                                            const tensor_start& tensor, double ratio, Scratch& s) {
  const problem<Team, Shape, Measurements> signal_problem(m, scale, ratio);
  const voxel_model::minimiser<Team, problem<Team, Shape, Measurements>, Scratch> minimiser(team, signal_problem, s);
  constexpr int starts = Shape::fibres > 3 ? 2 : 1;
  point<Shape> p{};
  double sum = 0;
  VOXHERD_UNROLL_BY(1)
  for (int start = 0; start < starts; ++start) {
    point<Shape> candidate = first_point<Shape>(tensor);
    if constexpr (Shape::fibres > 3) {
      const double(&v)[4][3] = tensor.axis;
      if (start > 0)
        candidate.fibre[3] =
            oriented(v[0][0] - v[1][0] + v[2][0], v[0][1] - v[1][1] + v[2][1], v[0][2] - v[1][2] + v[2][2]);
    }
    const double candidate_sum = minimiser.minimise(candidate);
    if (start > 0 && candidate_sum >= sum) continue;
    p = candidate;
    sum = candidate_sum;
  }
  return described<Shape>(p, scale, sum, m.count());
}

}  // namespace fitting

/// The least-squares start of one voxel's chain by one team: tensor, then Levenberg-Marquardt. With f0, a second
/// fit without it if the first is implausible.
template <diffusion_model Model, int Fibres, bool Unattenuated, class Team, class Measurements>
VOXHERD_FUNCTION inline fit_result<Fibres> fit_voxel(
    const Team& team, const Measurements& m, double ratio,
    fitting::scratch<Team, fitting::shape<Model, Fibres, Unattenuated>>& scratch) {
  using namespace fitting;
  using real = typename Team::real;
  real sum(0.0);
  for (int slot = 0; slot < m.slots(); ++slot) {
    real q[3], signal, weight;
    m.load(slot, q, signal, weight);
    sum += lane::max(signal, -signal) * weight;
  }
  const double mean = team.sum(sum) / m.count();
  const double scale = mean > 0 ? mean : 1;
  const tensor_start tensor = start_from_tensor(team, m, scale, scratch);
  auto result = fit_shape<shape<Model, Fibres, Unattenuated>>(team, m, scale, tensor, ratio, scratch);
  if constexpr (Unattenuated) {
    const bool at_max_d = result.d >= max_d * mm2_per_s;
    if (result.f[0] < min_first_fraction || at_max_d || result.f0 > max_unattenuated) {
      result = fit_shape<shape<Model, Fibres, false>>(team, m, scale, tensor, ratio, scratch);
      double ball = 1;
      for (int k = 0; k < Fibres; ++k) ball -= result.f[k];
      result.f0 = lane::min(small_unattenuated, ball / 2);
    }
  }
  return result;
}

/// The result as a chain's start, in parameter_layout's order.
template <diffusion_model Model, int Fibres, bool Unattenuated>
VOXHERD_FUNCTION inline void store_start(const fit_result<Fibres>& r, noise_model noise, double ratio, float* start) {
  const parameter_layout l = make_parameter_layout(Model, Fibres, Unattenuated, noise);
  start[l.s0] = static_cast<float>(r.s0);
  start[l.d] = static_cast<float>(r.d);
  if (l.d_std >= 0) start[l.d_std] = static_cast<float>(r.d_std);
  if (l.ratio >= 0) start[l.ratio] = static_cast<float>(ratio);
  if (l.f0 >= 0) start[l.f0] = static_cast<float>(r.f0);
  if (l.tau >= 0) start[l.tau] = static_cast<float>(r.tau);
  for (int k = 0; k < Fibres; ++k) {
    start[l.th(k)] = static_cast<float>(r.th[k]);
    start[l.ph(k)] = static_cast<float>(r.ph[k]);
    start[l.f(k)] = static_cast<float>(r.f[k]);
  }
}

}  // namespace voxherd::ballstick
