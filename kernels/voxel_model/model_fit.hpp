#pragma once

#include <cmath>

#include "kernels/voxel_model/minimiser.hpp"
#include "kernels/voxel_model/model.hpp"
#include "kernels/voxel_model/noise_model.hpp"
#include "kernels/voxel_model/rician_fit.hpp"
#include "kernels/voxel_model/voxel_data.hpp"

namespace voxherd::voxel_model {

/// A model's signal and its derivatives, for the minimiser; signals in units of `signal_scale`.
template <class Team, class Model>
class model_problem {
  using real = typename Team::real;
  static constexpr int n = parameter_count<Model>;

 public:
  static constexpr int free = n + 1;
  static constexpr int bounded = free;
  static constexpr double settled_decrease = 1e-8;
  static constexpr int max_iterations = 100;

  struct point {
    double linear[free];  ///< the model's parameters, then S0
  };

  VOXHERD_FUNCTION model_problem(const Team& team, const voxel_data<double>& data, const Model& model,
                                 const parameter_numbers<n>& numbers, double signal_scale)
      : team_(team), data_(data), model_(model), numbers_(numbers), signal_scale_(signal_scale) {}

  /// Gaussian noise for 0.
  VOXHERD_FUNCTION void set_variance(double variance) { variance_ = variance; }
  VOXHERD_FUNCTION void begin(const point&) const { lane_cost_ = lane_spread_ = real(0.0); }
  VOXHERD_FUNCTION int slots() const { return data_.slots(team_); }

  VOXHERD_FUNCTION void fill_row(const point& p, int slot, real (&row)[free + 1]) const {
    real by[n];
    const real weight = data_.is_measured(team_, slot);
    const real relative = attenuation(p, slot, by);
    VOXHERD_UNROLL
    for (int i = 0; i < n; ++i) row[i] = by[i] * real(p.linear[n]) * weight;
    row[n] = relative * weight;
    const real measured = data_.signal(team_, slot) * real(1 / signal_scale_);
    const real predicted = relative * real(p.linear[n]);
    row[free] = (measured - predicted) * weight;
    if (!(variance_ > 0)) return;
    const auto term = rician_term_of(measured, predicted, variance_);
    lane_cost_ += term.cost * weight;
    lane_spread_ += term.spread * weight;
    const real root = lane::sqrt(term.curvature);
    VOXHERD_UNROLL
    for (int i = 0; i < free; ++i) row[i] *= root;
    row[free] = term.residual / root * weight;
  }

  VOXHERD_FUNCTION double cost(double sum) const { return variance_ > 0 ? team_.sum(lane_cost_) : sum; }
  VOXHERD_FUNCTION double negligible_sum() const { return 1e-20 * data_.count; }
  /// One step of expectation maximisation of the variance, from the rows since begin().
  VOXHERD_FUNCTION double expected_variance() const { return team_.sum(lane_spread_) / (2 * data_.count); }
  VOXHERD_FUNCTION double lower_bound(int i) const { return i < n ? numbers_.low[i] : 1e-3; }
  VOXHERD_FUNCTION double upper_bound(int i) const { return i < n ? numbers_.high[i] : 1e6; }

  VOXHERD_FUNCTION point moved(const point& from, double* step) const {
    point to;
    VOXHERD_UNROLL
    for (int i = 0; i < free; ++i) {
      const double wanted = from.linear[i] + step[i], low = lower_bound(i), high = upper_bound(i);
      to.linear[i] = wanted < low ? low : wanted > high ? high : wanted;
      step[i] = to.linear[i] - from.linear[i];
    }
    return to;
  }

  /// The best of the starts, with the S0 that fits each of them best.
  VOXHERD_FUNCTION point find_start() const {
    int combinations = 1;
    for (int i = 0; i < n; ++i) combinations *= numbers_.starts[i].count;
    point best{};
    double most = -1;
    for (int c = 0; c < combinations; ++c) {
      point p;
      int rest = c;
      VOXHERD_UNROLL
      for (int i = 0; i < n; ++i) {
        const start_values& s = numbers_.starts[i];
        const double step = s.count > 1 ? (s.last - s.first) / (s.count - 1) : 0;
        p.linear[i] = s.first + step * (rest % s.count);
        rest /= s.count;
      }
      real squares(0.0), products(0.0);
      for (int slot = 0; slot < slots(); ++slot) {
        real by[n];
        const real relative = attenuation(p, slot, by) * data_.is_measured(team_, slot);
        squares += relative * relative;
        products += relative * data_.signal(team_, slot);
      }
      const double square = team_.sum(squares), product = team_.sum(products) / signal_scale_;
      const double s0 = square > 0 ? product / square : 0;
      if (!(s0 * product > most)) continue;  // the decrease of the sum of squares
      most = s0 * product;
      best = p;
      best.linear[n] = s0 > lower_bound(n) ? s0 : lower_bound(n);
    }
    return best;
  }

 private:
  VOXHERD_FUNCTION real attenuation(const point& p, int slot, real (&by)[n]) const {
    double own[n];
    VOXHERD_UNROLL
    for (int i = 0; i < n; ++i) own[i] = p.linear[i];
    return model_.attenuation(data_.gradient_at(team_, slot), own, by);
  }

  const Team& team_;
  const voxel_data<double>& data_;
  const Model& model_;
  const parameter_numbers<n>& numbers_;
  double signal_scale_;
  double variance_ = 0;
  mutable real lane_cost_, lane_spread_;
};

/// A best fit of a model with `Count` parameters.
template <int Count>
struct model_result {
  double value[Count + 1];  ///< the parameters, then S0 in the unit of the signal
  double sigma;             ///< of Rician noise, unit of the signal
  double residual;          ///< root mean square of signal minus fit
};

/// The best fit of one voxel by one team: Levenberg-Marquardt from the best of the model's starts.
template <class Team, class Model, class Scratch>
VOXHERD_FUNCTION inline model_result<parameter_count<Model>> fit_model(
    const Team& team, const voxel_data<double>& data, const Model& model,
    const parameter_numbers<parameter_count<Model>>& numbers, noise_model noise, double known_sigma, Scratch& scratch) {
  constexpr int n = parameter_count<Model>;
  using real = typename Team::real;
  using problem = model_problem<Team, Model>;
  real sum(0.0);
  for (int slot = 0; slot < data.slots(team); ++slot) {
    const real signal = data.signal(team, slot);
    sum += lane::max(signal, -signal);
  }
  const double mean = team.sum(sum) / data.count, scale = mean > 0 ? mean : 1;
  problem signal_problem(team, data, model, numbers, scale);
  const voxel_model::minimiser<Team, problem, Scratch> minimiser(team, signal_problem, scratch);
  auto p = signal_problem.find_start();
  double cost = minimiser.minimise(p), variance = 0;
  if (noise == noise_model::rician) {
    variance =
        minimise_rician(minimiser, signal_problem, p, known_sigma * known_sigma / (scale * scale), cost, data.count);
    signal_problem.set_variance(0);
    cost = minimiser.evaluate(p);
  }
  model_result<n> r;
  for (int i = 0; i < n; ++i) r.value[i] = p.linear[i];
  r.value[n] = p.linear[n] * scale;
  r.sigma = std::sqrt(variance) * scale;
  r.residual = std::sqrt(cost / data.count) * scale;
  return r;
}

}  // namespace voxherd::voxel_model
