#pragma once

#include "kernels/portable/lanes.hpp"

/// Symmetric 3x3 matrices as six numbers xx, xy, xz, yy, yz, zz.
namespace voxherd::tensor_field {

// One number per lane: a CUDA thread's ray, or the lanes of a SIMD register with one ray each.
using lane::any;
using lane::get;
using lane::lane_traits;
using lane::put;

template <class Number>
VOXHERD_FUNCTION inline void apply(const Number (&t)[6], const Number (&v)[3], Number (&out)[3]) {
  out[0] = t[0] * v[0] + t[1] * v[1] + t[2] * v[2];
  out[1] = t[1] * v[0] + t[3] * v[1] + t[4] * v[2];
  out[2] = t[2] * v[0] + t[4] * v[1] + t[5] * v[2];
}

template <class Number>
VOXHERD_FUNCTION inline Number dot(const Number (&a)[3], const Number (&b)[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// a^T T a
template <class Number>
VOXHERD_FUNCTION inline Number quadratic(const Number (&t)[6], const Number (&a)[3]) {
  Number ta[3];
  apply(t, a, ta);
  return dot(a, ta);
}

/// T^-1 v, by cofactors.
template <class Number>
VOXHERD_FUNCTION inline void solve(const Number (&t)[6], const Number (&v)[3], Number (&out)[3]) {
  const Number c[6] = {t[3] * t[5] - t[4] * t[4], t[2] * t[4] - t[1] * t[5], t[1] * t[4] - t[2] * t[3],
                       t[0] * t[5] - t[2] * t[2], t[1] * t[2] - t[0] * t[4], t[0] * t[3] - t[1] * t[1]};
  const Number inverse_det = 1.0f / (t[0] * c[0] + t[1] * c[1] + t[2] * c[2]);
  apply(c, v, out);
  for (Number& o : out) o *= inverse_det;
}

/// Row-major 3x3 times v.
template <class Number>
VOXHERD_FUNCTION inline void transform(const float (&m)[9], const Number (&v)[3], Number (&out)[3]) {
  for (int i = 0; i < 3; ++i) out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

/// Unit eigenvector of the largest eigenvalue, in the half space of `along`, by squaring the matrix eight times. If the
/// two largest eigenvalues differ by less than 3 %, it turns towards the component of `along` in their plane.
template <class Number>
VOXHERD_FUNCTION inline void main_axis(const Number (&t)[6], const Number (&along)[3], Number (&axis)[3]) {
  Number b[6];
  for (int n = 0; n < 6; ++n) b[n] = t[n];
  for (int squaring = 0; squaring < 8; ++squaring) {
    const Number scale = 1.0f / (b[0] + b[3] + b[5]);
    for (Number& x : b) x *= scale;
    const Number s[6] = {b[0] * b[0] + b[1] * b[1] + b[2] * b[2], b[0] * b[1] + b[1] * b[3] + b[2] * b[4],
                         b[0] * b[2] + b[1] * b[4] + b[2] * b[5], b[1] * b[1] + b[3] * b[3] + b[4] * b[4],
                         b[1] * b[2] + b[3] * b[4] + b[4] * b[5], b[2] * b[2] + b[4] * b[4] + b[5] * b[5]};
    for (int n = 0; n < 6; ++n) b[n] = s[n];
  }
  // The columns are multiples of the axis; the one with the largest diagonal element is the longest.
  const auto y_is_largest = b[3] > b[0];
  const Number first_two = lane::select(y_is_largest, b[3], b[0]);
  const auto z_is_largest = b[5] > first_two;
  axis[0] = lane::select(z_is_largest, b[2], lane::select(y_is_largest, b[1], b[0]));
  axis[1] = lane::select(z_is_largest, b[4], lane::select(y_is_largest, b[3], b[1]));
  axis[2] = lane::select(z_is_largest, b[5], lane::select(y_is_largest, b[4], b[2]));
  const Number length = lane::sqrt(dot(axis, axis)), towards = dot(axis, along);
  const Number factor = lane::select(towards < 0.0f, Number(-1.0f), Number(1.0f)) / length;
  for (Number& a : axis) a *= factor;
}

}  // namespace voxherd::tensor_field
