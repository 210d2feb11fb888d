#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/portable/function.hpp"

namespace voxherd::perfusion {

/// T1 before the agent that is used, in tissue or blood; compared as float, as maps are stored.
inline constexpr double min_t1_s = 0.01, max_t1_s = 10;

VOXHERD_FUNCTION inline bool is_usable_t1(double t1_s) {
  const auto stored = static_cast<float>(t1_s);
  return stored >= static_cast<float>(min_t1_s) && stored <= static_cast<float>(max_t1_s);
}

struct t1_fit {
  bool found = false;  ///< else T1 is at a bound or the signals have no positive M0, and the numbers are 0
  double t1_s = 0;
  double M0 = 0;              ///< unit of the signal
  double sum_of_squares = 0;  ///< sum of squares of the signals' residuals
};

/// T1 from spoiled gradient echoes at several flip angles, S = M0 sin a (1 - E) / (1 - E cos a), E = exp(-TR / T1):
/// least squares on the signals themselves, M0 eliminated, started at the weighted line fit of Chang et al., Magn Reson
/// Med 60:496, 2008 (the line: Fram et al., Magn Reson Imaging 5:201, 1987).
///
/// The unknown is log(1 - E), close to log(TR / T1): T1's bounds are far apart, and 1 - E does not cancel.
class t1_fitter {
 public:
  explicit t1_fitter(const conversion& c) : angles_(c.flip_angles), repetition_s_(c.t1_repetition_s) {
    for (int i = 0; i < angles_; ++i) {
      const double a = c.t1_flip_rad[static_cast<std::size_t>(i)];
      sine_[i] = std::sin(a);
      cosine_[i] = std::cos(a);
      versine_[i] = 2 * std::pow(std::sin(a / 2), 2);
    }
    if (angles_ == 0) return;
    min_ = std::log(-std::expm1(-repetition_s_ / max_t1_s));
    most_ = std::log(-std::expm1(-repetition_s_ / min_t1_s));
  }

  /// `signals`: one per flip angle, finite; a signal_row or doubles.
  template <class Signals>
  VOXHERD_FUNCTION t1_fit operator()(Signals signals) const {
    double at = line_fit(signals);
    step_numbers now = examine(signals, at);
    look_around(signals, at, now);
    double damping = 1e-3;
    for (int i = 0; i < max_iterations; ++i) {
      const double to = within_bounds(at + now.gradient / (now.curvature * (1 + damping) + DBL_MIN));
      const step_numbers next = examine(signals, to);
      const bool better = next.cost <= now.cost;
      const double moved = std::fabs(to - at);
      damping = better ? damping / 10 : damping * 10;
      if (better) {
        at = to;
        now = next;
      }
      if (moved < smallest_step) break;
    }
    return finish(at, now);
  }

 private:
  static constexpr int max_iterations = 100;
  static constexpr double smallest_step = 1e-12;

  struct step_numbers {
    double cost, amplitude, gradient, curvature;
  };

  /// Starts at the best of a few T1 if that is better: with much noise there can be two minima.
  template <class Signals>
  VOXHERD_FUNCTION void look_around(Signals signals, double& at, step_numbers& now) const {
    constexpr int places = 24;
    for (int k = 0; k <= places; ++k) {
      const double other = min_ + (most_ - min_) * k / places;
      const step_numbers there = examine(signals, other);
      if (!(there.cost < now.cost)) continue;
      at = other;
      now = there;
    }
  }

  VOXHERD_FUNCTION double within_bounds(double x) const { return x < min_ ? min_ : x > most_ ? most_ : x; }

  /// Cost at log(1 - E) with the best amplitude M0 (1 - E); gradient and curvature of half of it, as Kaufman (BIT
  /// 15:49, 1975): the part of the derivative that the amplitude cannot follow.
  template <class Signals>
  VOXHERD_FUNCTION step_numbers examine(Signals signals, double log_recovered) const {
    const double recovered = std::exp(log_recovered);
    double ss = 0, gs = 0, gg = 0, gd = 0, dd = 0, ds = 0;
    for (int i = 0; i < angles_; ++i) {
      const double s = signals[static_cast<std::size_t>(i)];
      const double below = versine_[i] + cosine_[i] * recovered;
      const double g = sine_[i] / below;
      const double d = -g * cosine_[i] * recovered / below;
      ss += s * s;
      gs += g * s;
      gg += g * g;
      gd += g * d;
      dd += d * d;
      ds += d * s;
    }
    const double m = gs / gg;
    return {cost_of(signals, recovered, m), m, m * (ds - m * gd), m * m * (dd - gd * gd / gg)};
  }

  /// From the residuals: s's - (g's)^2 / g'g would cancel.
  template <class Signals>
  VOXHERD_FUNCTION double cost_of(Signals signals, double recovered, double amplitude) const {
    double sum = 0;
    for (int i = 0; i < angles_; ++i) {
      const double g = sine_[i] / (versine_[i] + cosine_[i] * recovered);
      const double residual = signals[static_cast<std::size_t>(i)] - amplitude * g;
      sum += residual * residual;
    }
    return sum;
  }

  /// S / sin a = E S / tan a + M0 (1 - E), weighted by (sin a / (1 - E cos a))^2 of the last E: log(1 - E).
  template <class Signals>
  VOXHERD_FUNCTION double line_fit(Signals signals) const {
    double recovered = -std::expm1(-repetition_s_ / 1.0);
    for (int pass = 0; pass < 3; ++pass) {
      double w1 = 0, wx = 0, wy = 0, wxx = 0, wxd = 0;
      for (int i = 0; i < angles_; ++i) {
        const double y = signals[static_cast<std::size_t>(i)] / sine_[i];
        const double root = sine_[i] / (versine_[i] + cosine_[i] * recovered);
        const double w = root * root, x = y * cosine_[i], difference = y * versine_[i];
        w1 += w;
        wx += w * x;
        wy += w * difference;
        wxx += w * x * x;
        wxd += w * x * difference;
      }
      // The line of y - x over x: its slope is E - 1.
      const double slope = (w1 * wxd - wx * wy) / (w1 * wxx - wx * wx);
      const double least = std::exp(min_), most = std::exp(most_);
      recovered = !(-slope > least) ? least : -slope > most ? most : -slope;
    }
    return std::log(recovered);
  }

  VOXHERD_FUNCTION t1_fit finish(double at, const step_numbers& now) const {
    const bool inside = at > min_ && at < most_;
    if (!inside || !(now.amplitude > 0) || !(now.cost <= DBL_MAX)) return {};
    const double recovered = std::exp(at);
    return {true, -repetition_s_ / std::log1p(-recovered), now.amplitude / recovered, now.cost};
  }

  int angles_;
  double repetition_s_;
  double min_ = 0, most_ = 0;  ///< range of log(1 - E)
  double sine_[max_flip_angles] = {}, cosine_[max_flip_angles] = {}, versine_[max_flip_angles] = {};
};

}  // namespace voxherd::perfusion
