#pragma once

#include <cstddef>

#include "kernels/portable/simd_math.hpp"

namespace voxherd {

/// One CPU thread as a team: its lanes are the elements of a SIMD register, one measurement each. Same interface as
/// cuda_team, so that both share one kernel source: Real is one value per lane, a plain number belongs to the team.
template <class Number>
struct cpu_team {
  using number = Number;
  using real = lane::stdx::native_simd<Number>;
  static constexpr int lanes = static_cast<int>(real::size());
  static constexpr int partial_sums = 1;  ///< the processor reorders

  int width() const { return lanes; }
  /// A slot of an array that is padded to complete slots.
  real load(const Number* first, int slot) const { return real(first + slot * lanes, lane::stdx::element_aligned); }
  void store(Number* first, int slot, const real& value) const {
    value.copy_to(first + slot * lanes, lane::stdx::element_aligned);
  }
  /// Sum over the lanes, available to all of them.
  Number sum(real value) const { return lane::stdx::reduce(value); }
  /// Sum over the lanes in double, for large sums with significant small differences.
  double precise_sum(real value) const {
    double total = 0;
    for (int i = 0; i < lanes; ++i) total += value[static_cast<std::size_t>(i)];
    return total;
  }
  /// sum(value) times `scale`, for sums of non-negative values near 1/scale.
  Number scaled_sum(real value, Number scale) const { return sum(value) * scale; }
  /// A decision that is the same in all lanes.
  bool agreed(bool decision) const { return decision; }
  /// Orders writes of lanes to shared scratch before reads by other lanes.
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
