#pragma once

#include <cstdint>

#include "kernels/portable/lanes.hpp"
#if !defined(__CUDACC__)
#include "kernels/portable/simd_math.hpp"
#endif

/// Operations that a model needs besides arithmetic: for a double or float (one voxel), or a SIMD register (one voxel
/// per lane).
namespace voxherd::perfusion {

/// Concentrations of one voxel, or interleaved ones of a register's lanes: those of frame i are at first[i * stride].
struct voxel_samples {
  const float* first;
  int stride;
};

VOXHERD_FUNCTION inline float load(const float* from, float) { return *from; }
VOXHERD_FUNCTION inline double load(const float* from, double) { return static_cast<double>(*from); }

/// A curve's value at an integer index.
VOXHERD_FUNCTION inline float read(const float* curve, float place) { return curve[static_cast<int>(place)]; }
VOXHERD_FUNCTION inline double read(const double* curve, double place) { return curve[static_cast<int>(place)]; }

/// A curve's value at (frame + step) of a delayed position, for all lanes at once.
template <class Number>
class cursor {
 public:
  VOXHERD_FUNCTION cursor(const Number* curve, Number whole_delay) : at_(curve - static_cast<int>(whole_delay)) {}
  VOXHERD_FUNCTION Number operator[](int frame) const { return at_[frame]; }

 private:
  const Number* at_;
};

/// The smallest of a value's lanes.
VOXHERD_FUNCTION inline float smallest(float x) { return x; }
VOXHERD_FUNCTION inline double smallest(double x) { return x; }

#if !defined(__CUDACC__)
using lane::double_lanes;
using lane::float_lanes;

inline float_lanes load(const float* from, float_lanes) { return {from, lane::stdx::element_aligned}; }
inline double_lanes load(const float* from, double_lanes) {
  return lane::stdx::static_simd_cast<double_lanes>(
      lane::stdx::rebind_simd_t<float, double_lanes>(from, lane::stdx::element_aligned));
}
template <class Lanes>
Lanes read_lanes(const typename Lanes::value_type* curve, Lanes place) {
  alignas(64) std::int32_t places[Lanes::size()];
  lane::stdx::static_simd_cast<lane::stdx::rebind_simd_t<std::int32_t, Lanes>>(place).copy_to(
      places, lane::stdx::vector_aligned);
  return lane::gather(curve, places);
}
inline float_lanes read(const float* curve, float_lanes place) { return read_lanes(curve, place); }
inline double_lanes read(const double* curve, double_lanes place) { return read_lanes(curve, place); }

inline float smallest(const float_lanes& x) { return lane::stdx::hmin(x); }
inline double smallest(const double_lanes& x) { return lane::stdx::hmin(x); }

/// The values of a register's lanes are often so near each other that they need no gather.
template <class Lanes>
class lanes_cursor {
 public:
  using scalar = typename Lanes::value_type;
  VOXHERD_INLINED lanes_cursor(const scalar* curve, Lanes whole_delay) {
    const auto most = static_cast<std::int32_t>(lane::stdx::hmax(whole_delay));
    near_ = most - static_cast<std::int32_t>(smallest(whole_delay)) < lane::near_places<Lanes>;
    first_ = curve - most;
    for (std::size_t i = 0; i < Lanes::size(); ++i) place_[i] = most - static_cast<std::int32_t>(whole_delay[i]);
  }
  VOXHERD_INLINED Lanes operator[](int frame) const {
    return near_ ? lane::gather_near(first_ + frame, place_) : lane::gather(first_ + frame, place_);
  }

 private:
  const scalar* first_;
  bool near_;
  alignas(64) std::int32_t place_[Lanes::size()];
};
template <>
class cursor<float_lanes> : public lanes_cursor<float_lanes> {
  using lanes_cursor::lanes_cursor;
};
template <>
class cursor<double_lanes> : public lanes_cursor<double_lanes> {
  using lanes_cursor::lanes_cursor;
};

#endif

}  // namespace voxherd::perfusion
