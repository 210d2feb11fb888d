#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace voxherd::reference {

using vec3 = std::array<double, 3>;
using mat3 = std::array<std::array<double, 3>, 3>;  ///< [row][column]

inline constexpr mat3 identity3{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

inline vec3 operator+(const vec3& a, const vec3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline vec3 operator-(const vec3& a, const vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline vec3 operator*(double s, const vec3& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline double dot(const vec3& a, const vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline double norm(const vec3& a) { return std::sqrt(dot(a, a)); }
inline vec3 unit(const vec3& a) { return (1 / norm(a)) * a; }
inline vec3 cross(const vec3& a, const vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline mat3 operator+(const mat3& a, const mat3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline mat3 operator*(double s, const mat3& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline vec3 operator*(const mat3& a, const vec3& x) { return {dot(a[0], x), dot(a[1], x), dot(a[2], x)}; }

inline mat3 transposed(const mat3& a) {
  return {{{a[0][0], a[1][0], a[2][0]}, {a[0][1], a[1][1], a[2][1]}, {a[0][2], a[1][2], a[2][2]}}};
}

inline mat3 operator*(const mat3& a, const mat3& b) {
  const mat3 t = transposed(b);
  mat3 product;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) product[i][j] = dot(a[i], t[j]);
  return product;
}

/// a b^T
inline mat3 outer(const vec3& a, const vec3& b) { return {a[0] * b, a[1] * b, a[2] * b}; }

/// x^T a y
inline double form(const vec3& x, const mat3& a, const vec3& y) { return dot(x, a * y); }

inline double determinant(const mat3& a) { return dot(a[0], cross(a[1], a[2])); }

/// Columns of the inverse are cross products of the rows over the determinant.
inline mat3 inverse(const mat3& a) {
  const double s = 1 / determinant(a);
  return transposed({s * cross(a[1], a[2]), s * cross(a[2], a[0]), s * cross(a[0], a[1])});
}

}  // namespace voxherd::reference
