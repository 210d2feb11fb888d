#pragma once

#include <cmath>

#include "kernels/portable/contract.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "kernels/tensor_field/field_types.hpp"

/// Operations on the tensor of one voxel. Tensors are in units of the image's median diffusivity, so that float neither
/// overflows nor underflows in any metric.
namespace voxherd::tensor_field::prepare {

template <class T>
struct symmetric6 {
  T xx, xy, xz, yy, yz, zz;
};
using tensor6 = symmetric6<float>;
/// For chains of operations that round only once at the end: sums of v v^T stay positive definite as far as float can
/// represent it.
using wide_tensor6 = symmetric6<double>;

template <class To, class From>
VOXHERD_FUNCTION inline symmetric6<To> cast(const symmetric6<From>& d) {
  return {To(d.xx), To(d.xy), To(d.xz), To(d.yy), To(d.yz), To(d.zz)};
}

template <class T>
VOXHERD_FUNCTION inline symmetric6<T> scaled(const symmetric6<T>& d, T f) {
  return {f * d.xx, f * d.xy, f * d.xz, f * d.yy, f * d.yz, f * d.zz};
}

VOXHERD_FUNCTION inline eigen_system3<float> eigen_decomposition(const tensor6& d) {
  return symmetric_eigen3<float>(d.xx, d.xy, d.xz, d.yy, d.yz, d.zz);
}

/// Sum of value[k] v_k v_k^T.
VOXHERD_FUNCTION inline wide_tensor6 composed(const float (&value)[3], const float (&vector)[3][3]) {
  double m[6] = {};
  VOXHERD_UNROLL
  for (int k = 0; k < 3; ++k) {
    const double x = vector[k][0], y = vector[k][1], z = vector[k][2], l = value[k];
    m[0] += l * x * x, m[1] += l * x * y, m[2] += l * x * z;
    m[3] += l * y * y, m[4] += l * y * z, m[5] += l * z * z;
  }
  return {m[0], m[1], m[2], m[3], m[4], m[5]};
}

VOXHERD_FUNCTION inline double determinant(const wide_tensor6& d) {
  return d.xx * (d.yy * d.zz - d.yz * d.yz) - d.xy * (d.xy * d.zz - d.yz * d.xz) + d.xz * (d.xy * d.yz - d.yy * d.xz);
}

VOXHERD_FUNCTION inline wide_tensor6 inverse(const wide_tensor6& d) {
  const double a = d.yy * d.zz - d.yz * d.yz, b = d.xz * d.yz - d.xy * d.zz, c = d.xy * d.yz - d.xz * d.yy;
  const double f = 1 / (d.xx * a + d.xy * b + d.xz * c);
  return {f * a,
          f * b,
          f * c,
          f * (d.xx * d.zz - d.xz * d.xz),
          f * (d.xy * d.xz - d.xx * d.yz),
          f * (d.xx * d.yy - d.xy * d.xy)};
}

/// m d m^T; m row-major.
VOXHERD_FUNCTION inline wide_tensor6 sandwiched(const double (&m)[9], const wide_tensor6& d) {
  const double full[3][3] = {{d.xx, d.xy, d.xz}, {d.xy, d.yy, d.yz}, {d.xz, d.yz, d.zz}};
  double half[3][3];
  VOXHERD_UNROLL
  for (int i = 0; i < 3; ++i) {
    VOXHERD_UNROLL
    for (int j = 0; j < 3; ++j)
      half[i][j] = m[3 * i] * full[0][j] + m[3 * i + 1] * full[1][j] + m[3 * i + 2] * full[2][j];
  }
  const auto element = [&](int i, int j) {
    return half[i][0] * m[3 * j] + half[i][1] * m[3 * j + 1] + half[i][2] * m[3 * j + 2];
  };
  return {element(0, 0), element(0, 1), element(0, 2), element(1, 1), element(1, 2), element(2, 2)};
}

/// Basser & Pierpaoli, J Magn Reson B 111:209, 1996; computed from sums of squared elements, without eigenvalues.
VOXHERD_FUNCTION inline float fractional_anisotropy(const tensor6& d) {
  const float mean = (d.xx + d.yy + d.zz) / 3, x = d.xx - mean, y = d.yy - mean, z = d.zz - mean;
  const float across = 2 * (d.xy * d.xy + d.xz * d.xz + d.yz * d.yz);
  const float size = d.xx * d.xx + d.yy * d.yy + d.zz * d.zz + across;
  return size > 0 ? std::sqrt(1.5f * (x * x + y * y + z * z + across) / size) : 0;
}

enum class tensor_state : std::uint8_t {
  absent = 0,    ///< outside
  good = 1,      ///< measured
  hole = 2,      ///< inside, invalid
  repaired = 3,  ///< was not positive definite
  filled = 4,    ///< from its neighbours
};
VOXHERD_FUNCTION inline bool is_measured(tensor_state s) {
  return s == tensor_state::good || s == tensor_state::repaired;
}

VOXHERD_FUNCTION inline bool was_repaired(tensor_state s) {
  return s == tensor_state::hole || s == tensor_state::repaired;
}

/// A diffusivity above this many times the median, or below its inverse, is invalid.
inline constexpr float max_medians = 1e9f;

/// Whether all eigenvalues are above `floor`: the leading minors of d - floor are positive.
VOXHERD_FUNCTION inline bool exceeds(const tensor6& d, float floor) {
  const tensor6 e{d.xx - floor, d.xy, d.xz, d.yy - floor, d.yz, d.zz - floor};
  return e.xx > 0 && e.xx * e.yy - e.xy * e.xy > 0 && determinant(cast<double>(e)) > 0;
}

/// Raises eigenvalues below `least` times the largest one to that value.
VOXHERD_FUNCTION inline tensor_state clean(tensor6& d, float least) {
  const float size =
      std::fabs(d.xx) + std::fabs(d.xy) + std::fabs(d.xz) + std::fabs(d.yy) + std::fabs(d.yz) + std::fabs(d.zz);
  if (!(size < max_medians)) return tensor_state::hole;  // also for NaN
  // The trace is at least the largest eigenvalue, so that most tensors can be accepted without computing eigenvalues.
  const float trace = d.xx + d.yy + d.zz;
  if (trace * max_medians > 1 && exceeds(d, least * trace)) return tensor_state::good;
  auto e = eigen_decomposition(d);
  if (!(e.value[0] * max_medians > 1)) return tensor_state::hole;
  const bool positive = e.value[2] > 0;
  const float floor = least * e.value[0];
  if (e.value[2] < floor) {
    for (float& l : e.value) l = l < floor ? floor : l;
    d = cast<float>(composed(e.value, e.vector));
  }
  return positive ? tensor_state::good : tensor_state::repaired;
}

VOXHERD_FUNCTION inline tensor6 logarithm(const tensor6& d) {
  auto e = eigen_decomposition(d);
  for (float& l : e.value) l = std::log(l);
  return cast<float>(composed(e.value, e.vector));
}

VOXHERD_FUNCTION inline tensor6 exponential(const tensor6& d) {
  auto e = eigen_decomposition(d);
  for (float& l : e.value) l = std::exp(l);
  return cast<float>(composed(e.value, e.vector));
}

/// Limits for the eigenvalues of D_eff, the typical one being of order 1: a ratio below the first is not significant in
/// float, and a value that is not finite would spread along the lines of the B-spline filter.
inline constexpr float min_eigenvalue_ratio = 1e-6f, largest_stored = 1e10f;

/// D_eff in stored units, and its inverse.
struct effective {
  wide_tensor6 tensor, metric;
  float largest;  ///< eigenvalue of `tensor`
};

struct metric_rule {
  metric_kind kind;
  float alpha;
  float unit;  ///< stored D_eff divided by that of the rule for tensors in units of the median

  VOXHERD_FUNCTION effective operator()(const tensor6& d) const {
    return kind == metric_kind::inverse || kind == metric_kind::adjugate ? multiple(d) : power(d);
  }

 private:
  VOXHERD_FUNCTION static float bounded(float largest) {
    return largest > largest_stored ? largest_stored : largest * largest_stored < 1 ? 1 / largest_stored : largest;
  }

  /// D_eff is the tensor times a number, without rounding errors of eigenvectors.
  VOXHERD_FUNCTION effective multiple(const tensor6& d) const {
    const wide_tensor6 wide = cast<double>(d);
    const double factor = kind == metric_kind::adjugate ? unit / determinant(wide) : unit;
    const double first = eigen_decomposition(d).value[0];
    const float wanted = float(first * factor), largest = bounded(wanted);
    effective out;
    out.tensor = scaled(wide, largest == wanted ? factor : largest / first);
    out.metric = inverse(out.tensor);
    out.largest = largest;
    return out;
  }

  VOXHERD_FUNCTION effective power(const tensor6& d) const {
    auto e = eigen_decomposition(d);
    float factor = unit;
    if (kind == metric_kind::jeong) factor *= std::pow(e.value[0] * e.value[1] * e.value[2], (1 - alpha) / 3);
    float l[3], inverse_l[3];
    l[0] = bounded(factor * std::pow(e.value[0], alpha));
    for (int k = 1; k < 3; ++k) {
      l[k] = factor * std::pow(e.value[k], alpha);
      const float floor = min_eigenvalue_ratio * l[0];
      if (!(l[k] > floor)) l[k] = floor;
      if (l[k] > l[0]) l[k] = l[0];
    }
    for (int k = 0; k < 3; ++k) inverse_l[k] = 1 / l[k];
    return {composed(l, e.vector), composed(inverse_l, e.vector), l[0]};
  }
};

}  // namespace voxherd::tensor_field::prepare
