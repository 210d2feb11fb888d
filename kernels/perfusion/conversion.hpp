#pragma once

#include <array>
#include <cstdint>
#include <tuple>

namespace voxherd::perfusion {

enum class signal_kind {
  concentration,  ///< the series is concentration already
  linear,         ///< MR signal proportional to R1: C = R10 (S / S0 - 1) / r1 (the paper's)
  spoiled_echo,   ///< spoiled gradient echo, inverted exactly
  ct,             ///< C = S - S0, HU
};

enum class t1_source {
  constant,
  map,          ///< one more number per row: T1, s
  flip_angles,  ///< one more number per row and flip angle: the signals that T1 is fitted to
};

inline constexpr int max_flip_angles = 16;

/// How a voxel's signals become concentrations. A row has the frames' signals, then the numbers given by t1_source.
struct conversion {
  signal_kind signal = signal_kind::concentration;
  int baseline_begin = 0, baseline_end = 0;  ///< frames [begin, end) whose mean is S0
  double relaxivity_per_mM_s = 0;            ///< r1
  double repetition_s = 0, flip_rad = 0;     ///< settings of the dynamic series (spoiled_echo)
  t1_source t1 = t1_source::constant;
  double t1_s = 0;      ///< constant: before the agent
  int flip_angles = 0;  ///< number of flip angles of the T1 series
  std::array<double, max_flip_angles> t1_flip_rad{};
  double t1_repetition_s = 0;

  static constexpr auto members() {
    using T = conversion;
    return std::tuple(&T::signal, &T::baseline_begin, &T::baseline_end, &T::relaxivity_per_mM_s, &T::repetition_s,
                      &T::flip_rad, &T::t1, &T::t1_s, &T::flip_angles, &T::t1_flip_rad, &T::t1_repetition_s);
  }

  bool needs_t1() const { return signal == signal_kind::linear || signal == signal_kind::spoiled_echo; }
  /// Numbers per row after the frames.
  int extras() const {
    if (!needs_t1() || t1 == t1_source::constant) return 0;
    return t1 == t1_source::map ? 1 : flip_angles;
  }
};

}  // namespace voxherd::perfusion
