#pragma once

#include <cstddef>

#include "kernels/portable/simd_math.hpp"

namespace voxherd {

/// One CPU thread as a team: its lanes are the elements of one SIMD register, each holding one measurement.
/// The same interface as cuda_team, so that one kernel source serves both: Real is a value per lane, a plain number is
/// the team's.
template <class Number>
struct cpu_team {
  using number = Number;
  using real = lane::stdx::native_simd<Number>;
  static constexpr int lanes = static_cast<int>(real::size());
  static constexpr int partial_sums = 1;  ///< the processor reorders

  int width() const { return lanes; }
  /// Sum over the lanes, known to all of them.
  Number sum(real value) const { return lane::stdx::reduce(value); }
  /// Sum over the lanes in double: for large sums whose small differences count.
  double precise_sum(real value) const {
    double total = 0;
    for (int i = 0; i < lanes; ++i) total += value[static_cast<std::size_t>(i)];
    return total;
  }
  /// sum(value) times `scale`, for sums of non-negative values near 1/scale.
  Number scaled_sum(real value, Number scale) const { return sum(value) * scale; }
  /// A decision that all lanes have come to alike.
  bool agreed(bool decision) const { return decision; }
  /// Orders what lanes wrote to shared scratch before what others read from it.
  void sync() const {}
  /// Calls work(i) for i in [0, count), shared out over the lanes.
  template <class Work>
  void share(int count, Work work) const {
    for (int i = 0; i < count; ++i) work(i);
  }
  /// Calls work() once for the team.
  template <class Work>
  void once(Work work) const {
    work();
  }
};

/// Slot s of a per-lane array in memory: an array of SIMD registers.
template <class Real>
struct memory_array {
  Real* first;
  Real& operator[](int slot) const { return first[slot]; }
};

}  // namespace voxherd
