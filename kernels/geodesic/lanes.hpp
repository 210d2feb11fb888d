#pragma once

#include "kernels/portable/lane_math.hpp"

/// A number a lane, so that one source serves a CUDA thread (one lane) and a CPU thread (the lanes of a SIMD register,
/// each with a ray of its own).
namespace voxherd::geodesic {

template <class Number>
struct lane_traits;

template <>
struct lane_traits<float> {
  using mask = bool;
  static constexpr int count = 1;
};

VOXHERD_FUNCTION inline float get(float x, int) { return x; }
VOXHERD_FUNCTION inline void put(float& x, int, float value) { x = value; }
VOXHERD_FUNCTION inline bool get(bool m, int) { return m; }
VOXHERD_FUNCTION inline void put(bool& m, int, bool value) { m = value; }
using lane::any;

#if !defined(__CUDACC__)
template <>
struct lane_traits<lane::float_lanes> {
  using mask = lane::float_lanes::mask_type;
  static constexpr int count = static_cast<int>(lane::float_lanes::size());
};

inline float get(const lane::float_lanes& x, int i) { return x[static_cast<std::size_t>(i)]; }
inline void put(lane::float_lanes& x, int i, float value) { x[static_cast<std::size_t>(i)] = value; }
inline bool get(const lane::float_lanes::mask_type& m, int i) { return m[static_cast<std::size_t>(i)]; }
inline void put(lane::float_lanes::mask_type& m, int i, bool value) { m[static_cast<std::size_t>(i)] = value; }
#endif

}  // namespace voxherd::geodesic
