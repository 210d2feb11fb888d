#pragma once

#include <cmath>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/portable/function.hpp"

namespace voxherd::perfusion {

/// Signal of a spoiled gradient echo in the steady state (Ernst): M0 sin a (1 - E) / (1 - E cos a), E = exp(-TR R1).
/// Written with 1 - E and 1 - cos a, which do not cancel at TR << T1 and small angles.
class spoiled_echo {
 public:
  spoiled_echo(double repetition_s, double flip_rad)
      : repetition_s_(repetition_s), cosine_(std::cos(flip_rad)), versine_(2 * std::pow(std::sin(flip_rad / 2), 2)) {}

  /// Fraction of the signal at an infinitely short T1: (1 - E) / (1 - E cos a), below 1.
  VOXHERD_FUNCTION double part_of_saturation(double rate_per_s) const {
    const double recovered = -std::expm1(-repetition_s_ * rate_per_s);
    return recovered / (versine_ + cosine_ * recovered);
  }

  /// The inverse function, for fractions below 1: 1/s.
  VOXHERD_FUNCTION double rate(double part) const {
    return -std::log1p(-part * versine_ / (1 - cosine_ * part)) / repetition_s_;
  }

 private:
  double repetition_s_, cosine_, versine_;
};

/// A voxel's values before the agent.
struct baseline {
  double S0 = 0;    ///< signal
  double t1_s = 0;  ///< if the conversion needs one
};

/// Signal from concentration and back, for one voxel whose baseline is known. In mM, for CT in HU.
class voxel_signal_model {
 public:
  /// Samples above this fraction of the largest possible signal are limited to it: above it, a little noise changes the
  /// concentration much, and at 1 the concentration is infinite.
  static constexpr double max_saturation = 0.95;

  struct concentration_result {
    double value;
    bool clamped;
  };

  VOXHERD_FUNCTION voxel_signal_model(const conversion& c, const spoiled_echo& echo, baseline before)
      : kind_(c.signal), echo_(echo), S0_(before.S0), per_rate_(1 / c.relaxivity_per_mM_s), rate_(1 / before.t1_s) {
    if (kind_ == signal_kind::spoiled_echo) part_ = echo_.part_of_saturation(rate_);
  }

  VOXHERD_FUNCTION concentration_result concentration(double signal) const {
    if (kind_ == signal_kind::concentration) return {signal, false};
    if (kind_ == signal_kind::ct) return {signal - S0_, false};
    if (kind_ == signal_kind::linear) return {per_rate_ * rate_ * (signal / S0_ - 1), false};
    const double part = part_ * signal / S0_;
    const double limited = part > max_saturation ? max_saturation : part < -max_saturation ? -max_saturation : part;
    return {per_rate_ * (echo_.rate(limited) - rate_), limited != part};
  }

  VOXHERD_FUNCTION double signal(double concentration) const {
    if (kind_ == signal_kind::concentration) return concentration;
    if (kind_ == signal_kind::ct) return S0_ + concentration;
    const double added_rate = concentration / per_rate_;
    if (kind_ == signal_kind::linear) return S0_ * (1 + added_rate / rate_);
    return S0_ * echo_.part_of_saturation(rate_ + added_rate) / part_;
  }

 private:
  signal_kind kind_;
  spoiled_echo echo_;
  double S0_;
  double per_rate_;  ///< 1 / r1, mM s
  double rate_;      ///< R10, 1/s
  double part_ = 0;  ///< part of saturation, before the agent
};

/// The same from a user's settings, on the host.
inline voxel_signal_model signal_model(const conversion& c, baseline before) {
  return {c, spoiled_echo(c.repetition_s, c.flip_rad), before};
}

}  // namespace voxherd::perfusion
