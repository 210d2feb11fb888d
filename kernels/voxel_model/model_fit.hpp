#pragma once

#include <cmath>

#include "kernels/voxel_model/frame.hpp"
#include "kernels/voxel_model/minimiser.hpp"
#include "kernels/voxel_model/model.hpp"
#include "kernels/voxel_model/noise_model.hpp"
#include "kernels/voxel_model/rician_fit.hpp"
#include "kernels/voxel_model/tensor_start.hpp"
#include "kernels/voxel_model/voxel_data.hpp"

namespace voxherd::voxel_model {

/// A model's signal and its derivatives, for the minimiser; signals in units of `signal_scale`.
template <class Team, class Model>
class model_problem {
  using real = typename Team::real;
  static constexpr int n = parameter_count<Model>;
  static constexpr int turns = turn_count<Model>;
  static constexpr bool can_relabel = requires { Model::relabelled; };

 public:
  using state = typename state_of<Model, double, true>::type;
  using start_state = typename state_of<Model, double, false>::type;
  static constexpr int free = value_count<Model>;
  static constexpr int bounded = n + 1;
  static constexpr double settled_decrease = 1e-8;
  static constexpr int max_iterations = 100;

  struct point {
    double linear[bounded];  ///< the model's parameters, then S0
    frame<double> axes;      ///< of a directional model
  };

  VOXHERD_FUNCTION model_problem(const Team& team, const voxel_data<double>& data, const Model& model,
                                 const parameter_numbers<n>& numbers, double signal_scale, state& own,
                                 start_state& of_start)
      : team_(team),
        data_(data),
        model_(model),
        numbers_(numbers),
        signal_scale_(signal_scale),
        state_(own),
        start_state_(of_start) {}

  /// Gaussian noise for 0.
  VOXHERD_FUNCTION void set_variance(double variance) { variance_ = variance; }
  VOXHERD_FUNCTION void begin(const point& p) const {
    prepare(p, state_);
    lane_cost_ = lane_spread_ = real(0.0);
  }
  VOXHERD_FUNCTION int slots() const { return data_.slots(team_); }

  VOXHERD_FUNCTION void fill_row(const point& p, int slot, real (&row)[free + 1]) const {
    real by[n + turns];
    const real weight = data_.is_measured(team_, slot);
    const real relative = attenuation(p, state_, slot, by);
    VOXHERD_UNROLL
    for (int i = 0; i < n + turns; ++i) row[i < n ? i : i + 1] = by[i] * real(p.linear[n]) * weight;
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
  VOXHERD_FUNCTION double lower_bound(int i) const { return i < n ? numbers_.low[i] - beyond(i) : 1e-3; }
  VOXHERD_FUNCTION double upper_bound(int i) const { return i < n ? numbers_.high[i] + beyond(i) : 1e6; }

  VOXHERD_FUNCTION point moved(const point& from, double* step) const {
    point to;
    VOXHERD_UNROLL
    for (int i = 0; i < bounded; ++i) {
      const double wanted = from.linear[i] + step[i], low = lower_bound(i), high = upper_bound(i);
      to.linear[i] = wanted < low ? low : wanted > high ? high : wanted;
      step[i] = to.linear[i] - from.linear[i];
    }
    if constexpr (turns > 0) {
      double turn[3] = {};
      VOXHERD_UNROLL
      for (int i = 0; i < turns; ++i) turn[i] = step[bounded + i];
      to.axes = turned(from.axes, turn);
      VOXHERD_UNROLL
      for (int i = 0; i < turns; ++i) step[bounded + i] = turn[i];
    }
    if constexpr (can_relabel) {
      double own[n];
      VOXHERD_UNROLL
      for (int i = 0; i < n; ++i) own[i] = to.linear[i];
      Model::relabel(own, to.axes);
      VOXHERD_UNROLL
      for (int i = 0; i < n; ++i) to.linear[i] = lane::min(lane::max(own[i], numbers_.low[i]), numbers_.high[i]);
    }
    return to;
  }

  /// The best of the starts in this frame, with the S0 that fits each of them best.
  VOXHERD_FUNCTION point find_start(const frame<double>& axes) const {
    int combinations = 1, prepared_at_once = 1;
    for (int i = 0; i < n; ++i) {
      combinations *= numbers_.starts[i].count;
      if constexpr (turns > 0)
        if (i < Model::first_prepared) prepared_at_once = combinations;
    }
    point best{};
    double most = -1;
    for (int c = 0; c < combinations; ++c) {
      point p;
      p.axes = axes;
      int rest = c;
      VOXHERD_UNROLL
      for (int i = 0; i < n; ++i) {
        const start_values& s = numbers_.starts[i];
        const double step = s.count > 1 ? (s.last - s.first) / (s.count - 1) : 0;
        p.linear[i] = s.first + step * (rest % s.count);
        rest /= s.count;
      }
      if (c % prepared_at_once == 0) prepare(p, start_state_);
      real squares(0.0), products(0.0);
      for (int slot = 0; slot < slots(); ++slot) {
        real by[n + turns];
        const real relative = attenuation(p, start_state_, slot, by) * data_.is_measured(team_, slot);
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
  VOXHERD_FUNCTION double beyond(int i) const {
    if constexpr (can_relabel)
      if (i == Model::relabelled) return 0.5 * (numbers_.high[i] - numbers_.low[i]);
    return 0;
  }

  template <class State>
  VOXHERD_FUNCTION void prepare(const point& p, State& state_of_p) const {
    if constexpr (turns > 0) {
      double own[n];
      VOXHERD_UNROLL
      for (int i = 0; i < n; ++i) own[i] = p.linear[i];
      model_.prepare(team_, own, state_of_p);
    }
  }

  template <class State>
  VOXHERD_FUNCTION real attenuation(const point& p, const State& prepared, int slot, real (&by)[n + turns]) const {
    double own[n];
    VOXHERD_UNROLL
    for (int i = 0; i < n; ++i) own[i] = p.linear[i];
    const auto g = data_.gradient_at(team_, slot);
    return attenuation_in(p.axes, prepared, model_, g, data_.table_at(team_, model_, g.b_s_per_mm2, slot), own, by);
  }

  const Team& team_;
  const voxel_data<double>& data_;
  const Model& model_;
  const parameter_numbers<n>& numbers_;
  double signal_scale_;
  state& state_;
  start_state& start_state_;
  double variance_ = 0;
  mutable real lane_cost_, lane_spread_;
};

/// The volumes that a tensor describes, if these suffice: b = 0 and low b-values.
template <class Team>
struct tensor_volumes {
  using real = typename Team::real;
  static constexpr double max_b0 = 50, max_b = 1500;  ///< s/mm2
  const Team& team;
  const voxel_data<double>& data;
  bool all = false;

  VOXHERD_FUNCTION tensor_volumes(const Team& t, const voxel_data<double>& d) : team(t), data(d) {
    real few(0.0), low(0.0);
    for (int slot = 0; slot < slots(); ++slot) {
      few += is_below(max_b0, slot);
      low += is_below(max_b, slot);
    }
    const double unweighted = team.sum(few);
    all = unweighted < 1 || team.sum(low) < unweighted + 6;
  }
  VOXHERD_FUNCTION int slots() const { return data.slots(team); }
  VOXHERD_FUNCTION void load(int slot, real (&q)[3], real& signal, real& weight) const {
    const auto g = data.gradient_at(team, slot);
    weight = is_below(all ? 1e30 : max_b, slot);
    const real root = lane::sqrt(g.b_s_per_mm2 * real(1e-3)) * weight;
    q[0] = g.x * root, q[1] = g.y * root, q[2] = g.z * root;
    signal = data.signal(team, slot);
  }

 private:
  VOXHERD_FUNCTION real is_below(double limit, int slot) const {
    const real measured = data.is_measured(team, slot), b = data.gradient_at(team, slot).b_s_per_mm2;
    return lane::select(b <= real(limit), measured, real(0.0));
  }
};

/// A best fit of a model with `Count` parameters.
template <int Count>
struct model_result {
  double value[Count + 1];  ///< the parameters, then S0 in the unit of the signal
  double sigma;             ///< of Rician noise, unit of the signal
  double residual;          ///< root mean square of signal minus fit
  frame<double> axes;       ///< of a directional model
};

/// The best fit of one voxel by one team: Levenberg-Marquardt from the best of the model's starts.
template <class Team, class Model, class Scratch>
VOXHERD_FUNCTION inline model_result<parameter_count<Model>> fit_model(
    const Team& team, const voxel_data<double>& data, const Model& model,
    const parameter_numbers<parameter_count<Model>>& numbers, noise_model noise, double known_sigma, Scratch& scratch,
    typename state_of<Model, double, true>::type& state, typename state_of<Model, double, false>::type& start_state) {
  constexpr int n = parameter_count<Model>;
  using real = typename Team::real;
  using problem = model_problem<Team, Model>;
  real sum(0.0);
  for (int slot = 0; slot < data.slots(team); ++slot) {
    const real signal = data.signal(team, slot);
    sum += lane::max(signal, -signal);
  }
  const double mean = team.sum(sum) / data.count, scale = mean > 0 ? mean : 1;
  problem signal_problem(team, data, model, numbers, scale, state, start_state);
  const voxel_model::minimiser<Team, problem, Scratch> minimiser(team, signal_problem, scratch);
  frame<double> axes{};
  if constexpr (directional<Model>) {
    const tensor_start tensor = start_from_tensor(team, tensor_volumes<Team>(team, data), scale, scratch);
    axes = make_frame(tensor.axis[1], tensor.axis[0]);
  }
  auto p = signal_problem.find_start(axes);
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
  r.axes = p.axes;
  r.sigma = std::sqrt(variance) * scale;
  r.residual = std::sqrt(cost / data.count) * scale;
  return r;
}

}  // namespace voxherd::voxel_model
