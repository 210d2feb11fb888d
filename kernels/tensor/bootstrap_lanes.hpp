#pragma once

#include "kernels/portable/double_math.hpp"
#include "kernels/tensor/bootstrap_signs.hpp"

/// Operations of a wild bootstrap's refit besides arithmetic, for one voxel or a SIMD register of voxels.
namespace voxherd::bootstrap_lanes {

template <class Number>
struct traits;

template <>
struct traits<double> {
  using mask = bool;
  using signs = sign_words;
  static constexpr std::size_t count = 1;
};

VOXHERD_FUNCTION inline double turned(double residual, const sign_words& signs, std::size_t k) {
  return is_turned(signs, k) != 0 ? -residual : residual;
}
VOXHERD_FUNCTION inline double load(const float* from, double) { return static_cast<double>(*from); }
VOXHERD_FUNCTION inline double load(const double* from, double) { return *from; }
VOXHERD_FUNCTION inline void draw(std::uint64_t seed, const std::uint64_t* voxel, std::uint64_t replicate,
                                  std::uint64_t n, sign_words& signs) {
  signs = draw_signs(seed, *voxel, replicate, n);
}
VOXHERD_FUNCTION inline double at(double x, std::size_t) { return x; }
VOXHERD_FUNCTION inline bool at(bool x, std::size_t) { return x; }

#if !defined(__CUDACC__)
using lane::double_lanes;
using lane::long_lanes;

struct sign_lanes {
  long_lanes word[2];
};

template <>
struct traits<double_lanes> {
  using mask = double_lanes::mask_type;
  using signs = sign_lanes;
  static constexpr std::size_t count = double_lanes::size();
};

inline double_lanes turned(double_lanes residual, const sign_lanes& signs, std::size_t k) {
  const long_lanes sign = (signs.word[k / 64 % 2] >> static_cast<int>(k % 64)) << 63;
  return std::bit_cast<double_lanes>(std::bit_cast<long_lanes>(residual) ^ sign);
}
inline double_lanes load(const float* from, double_lanes) {
  return lane::stdx::static_simd_cast<double_lanes>(
      lane::stdx::rebind_simd_t<float, double_lanes>(from, lane::stdx::element_aligned));
}
inline double_lanes load(const double* from, double_lanes) { return {from, lane::stdx::element_aligned}; }
inline void draw(std::uint64_t seed, const std::uint64_t* voxel, std::uint64_t replicate, std::uint64_t n,
                 sign_lanes& signs) {
  std::int64_t words[2][double_lanes::size()];
  for (std::size_t i = 0; i < double_lanes::size(); ++i) {
    const sign_words drawn = draw_signs(seed, voxel[i], replicate, n);
    for (int w = 0; w < 2; ++w) words[w][i] = static_cast<std::int64_t>(drawn.word[w]);
  }
  for (int w = 0; w < 2; ++w) signs.word[w].copy_from(words[w], lane::stdx::element_aligned);
}
inline double at(const double_lanes& x, std::size_t i) { return x[i]; }
inline bool at(const double_lanes::mask_type& x, std::size_t i) { return x[i]; }
#endif

}  // namespace voxherd::bootstrap_lanes
