#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/portable/double_math.hpp"
#include "kernels/portable/lane_math.hpp"

/// One number per lane, so that one source serves a CUDA thread (one lane) and a CPU thread (the lanes of a SIMD
/// register, each with its own item).
namespace voxherd::lane {

template <class Number>
struct lane_traits;

template <>
struct lane_traits<float> {
  using mask = bool;
  using scalar = float;
  static constexpr int count = 1;
};

template <>
struct lane_traits<double> {
  using mask = bool;
  using scalar = double;
  static constexpr int count = 1;
};

VOXHERD_FUNCTION inline float get(float x, int) { return x; }
VOXHERD_FUNCTION inline void put(float& x, int, float value) { x = value; }
VOXHERD_FUNCTION inline double get(double x, int) { return x; }
VOXHERD_FUNCTION inline void put(double& x, int, double value) { x = value; }
VOXHERD_FUNCTION inline int get(int x, int) { return x; }
VOXHERD_FUNCTION inline bool get(bool m, int) { return m; }
VOXHERD_FUNCTION inline void put(bool& m, int, bool value) { m = value; }
/// Calls work(lane) for each lane in which the condition holds.
template <class Work>
VOXHERD_FUNCTION inline void each_lane(bool condition, const Work& work) {
  if (condition) work(0);
}

#if !defined(__CUDACC__)
template <>
struct lane_traits<float_lanes> {
  using mask = float_lanes::mask_type;
  using scalar = float;
  static constexpr int count = static_cast<int>(float_lanes::size());
};

template <>
struct lane_traits<double_lanes> {
  using mask = double_lanes::mask_type;
  using scalar = double;
  static constexpr int count = static_cast<int>(double_lanes::size());
};

template <class T, class Abi>
T get(const stdx::simd<T, Abi>& x, int i) {
  return x[static_cast<std::size_t>(i)];
}
template <class T, class Abi>
void put(stdx::simd<T, Abi>& x, int i, T value) {
  x[static_cast<std::size_t>(i)] = value;
}
template <class T, class Abi>
bool get(const stdx::simd_mask<T, Abi>& m, int i) {
  return m[static_cast<std::size_t>(i)];
}
template <class T, class Abi>
void put(stdx::simd_mask<T, Abi>& m, int i, bool value) {
  m[static_cast<std::size_t>(i)] = value;
}
template <class T, class Abi, class Work>
void each_lane(const stdx::simd_mask<T, Abi>& condition, const Work& work) {
  for (std::uint64_t left = bits(condition); left != 0; left &= left - 1) work(std::countr_zero(left));
}
inline bool any(const double_lanes::mask_type& condition) { return stdx::any_of(condition); }
#endif

}  // namespace voxherd::lane
