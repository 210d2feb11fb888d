#pragma once

#include <cmath>

#include "kernels/portable/double_math.hpp"
#include "kernels/tensor_field/symmetric3.hpp"

/// The norm F(v) = (T_ijkl v^i v^j v^k v^l)^(1/4) of a symmetric fourth-order tensor (Astola & Florack, SSVM 2009) and
/// its geodesics. If T is the symmetric part of G x G, F(v)^2 = v^T G v, and the geodesics are those of the metric G.
///
/// A quartic is T's 15 independent components: T_xxxx, xxxy, xxxz, xxyy, xxyz, xxzz, xyyy, xyyz, xyzz, xzzz, yyyy,
/// yyyz, yyzz, yzzz, zzzz. They are components, not coefficients of the polynomial: T_xxxy occurs four times in T v v v
/// v, T_xxyy six, T_xxyz twelve times. All indices are covariant: they apply to displacements, as those of G do.
namespace voxherd::tensor_field {

inline constexpr int quartic_size = 15;

namespace detail {
/// Pair p of xx, xy, xz, yy, yz, zz: number of indices that are not x, and number that are z.
VOXHERD_FUNCTION constexpr int not_x(int p) { return p == 0 ? 0 : p < 3 ? 1 : 2; }
VOXHERD_FUNCTION constexpr int are_z(int p) { return p == 0 ? 0 : p < 3 ? p - 1 : p - 3; }
}  // namespace detail

/// Index of the component whose four indices are those of two pairs.
VOXHERD_FUNCTION constexpr int quartic_place(int pair, int other) {
  const int n = detail::not_x(pair) + detail::not_x(other);
  return n * (n + 1) / 2 + detail::are_z(pair) + detail::are_z(other);
}

/// T v v v v = sum of T[n] out[n]: products of four v's times their multiplicity.
template <class Number>
VOXHERD_FUNCTION inline void quartic_monomials(const Number (&v)[3], Number (&out)[quartic_size]) {
  const Number x = v[0], y = v[1], z = v[2], xx = x * x, yy = y * y, zz = z * z, xy = x * y, yz = y * z, xz = x * z;
  out[0] = xx * xx, out[1] = 4.0f * xx * xy, out[2] = 4.0f * xx * xz;
  out[3] = 6.0f * xx * yy, out[4] = 12.0f * xx * yz, out[5] = 6.0f * xx * zz;
  out[6] = 4.0f * xy * yy, out[7] = 12.0f * xz * yy, out[8] = 12.0f * xy * zz, out[9] = 4.0f * xz * zz;
  out[10] = yy * yy, out[11] = 4.0f * yy * yz, out[12] = 6.0f * yy * zz, out[13] = 4.0f * yz * zz, out[14] = zz * zz;
}

template <class Number>
VOXHERD_FUNCTION inline Number quartic_sum(const Number (&t)[quartic_size], const Number (&monomials)[quartic_size]) {
  Number sum = t[0] * monomials[0];
  VOXHERD_UNROLL
  for (int n = 1; n < quartic_size; ++n) sum += t[n] * monomials[n];
  return sum;
}

/// q = T v v v v
template <class Number>
VOXHERD_FUNCTION inline Number quartic_value(const Number (&t)[quartic_size], const Number (&v)[3]) {
  Number monomials[quartic_size];
  quartic_monomials(v, monomials);
  return quartic_sum(t, monomials);
}

/// T_lm = T_lmij v^i v^j as xx, xy, xz, yy, yz, zz.
template <class Number>
VOXHERD_FUNCTION inline void quartic_twice(const Number (&t)[quartic_size], const Number (&v)[3], Number (&out)[6]) {
  const Number w[6] = {v[0] * v[0], 2.0f * v[0] * v[1], 2.0f * v[0] * v[2],
                       v[1] * v[1], 2.0f * v[1] * v[2], v[2] * v[2]};
  VOXHERD_UNROLL
  for (int p = 0; p < 6; ++p) {
    out[p] = t[quartic_place(p, 0)] * w[0];
    VOXHERD_UNROLL
    for (int o = 1; o < 6; ++o) out[p] += t[quartic_place(p, o)] * w[o];
  }
}

/// T(M w) as a quartic of w: out_ijkl = T_abcd M_ai M_bj M_ck M_dl; m row-major.
template <class Number>
VOXHERD_FUNCTION inline void quartic_transformed(const Number (&t)[quartic_size], const Number (&m)[9],
                                                 Number (&out)[quartic_size]) {
  constexpr int first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
  Number b[6][6];  // pairs of w's axes in rows, of v's in columns
  for (int p = 0; p < 6; ++p)
    for (int a = 0; a < 6; ++a) {
      const int i = first[p], j = second[p], r = first[a], s = second[a];
      b[p][a] = m[3 * r + i] * m[3 * s + j];
      if (r != s) b[p][a] += m[3 * s + i] * m[3 * r + j];
    }
  for (int p = 0; p < 6; ++p) {
    Number half[6];
    for (int a = 0; a < 6; ++a) {
      half[a] = 0.0f;
      for (int o = 0; o < 6; ++o) half[a] += t[quartic_place(a, o)] * b[p][o];
    }
    for (int o = p; o < 6; ++o) {
      Number sum = 0.0f;
      for (int a = 0; a < 6; ++a) sum += half[a] * b[o][a];
      out[quartic_place(p, o)] = sum;
    }
  }
}

/// The symmetric part of G x G; G as xx, xy, xz, yy, yz, zz.
template <class Number>
VOXHERD_FUNCTION inline void quartic_of_metric(const Number (&g)[6], Number (&out)[quartic_size]) {
  const Number third = 1.0f / Number(3.0f);
  out[0] = g[0] * g[0], out[1] = g[0] * g[1], out[2] = g[0] * g[2];
  out[3] = third * (g[0] * g[3] + 2.0f * g[1] * g[1]);
  out[4] = third * (g[0] * g[4] + 2.0f * g[1] * g[2]);
  out[5] = third * (g[0] * g[5] + 2.0f * g[2] * g[2]);
  out[6] = g[1] * g[3], out[9] = g[2] * g[5];
  out[7] = third * (g[3] * g[2] + 2.0f * g[1] * g[4]);
  out[8] = third * (g[5] * g[1] + 2.0f * g[2] * g[4]);
  out[10] = g[3] * g[3], out[11] = g[3] * g[4], out[13] = g[4] * g[5], out[14] = g[5] * g[5];
  out[12] = third * (g[3] * g[5] + 2.0f * g[4] * g[4]);
}

/// Contractions of T with one direction.
template <class Number>
struct finsler4_at {
  Number q;      ///< T v v v v = F^4
  Number t1[3];  ///< T_l = T_lijk v v v
  Number t2[6];  ///< T_lm = T_lmij v v

  VOXHERD_FUNCTION finsler4_at(const Number (&t)[quartic_size], const Number (&v)[3]) {
    quartic_twice(t, v, t2);
    apply(t2, v, t1);
    q = dot(t1, v);
  }

  /// q^(1/2) g, with the fundamental tensor g_lm = 1/2 d2(F^2)/dv_l dv_m = 3 q^(-1/2) T_lm - 2 q^(-3/2) T_l T_m.
  VOXHERD_FUNCTION void scaled_metric(Number (&out)[6]) const {
    const Number f = 2.0f / q;
    const Number a[3] = {f * t1[0], f * t1[1], f * t1[2]};
    out[0] = 3.0f * t2[0] - a[0] * t1[0], out[1] = 3.0f * t2[1] - a[0] * t1[1], out[2] = 3.0f * t2[2] - a[0] * t1[2];
    out[3] = 3.0f * t2[3] - a[1] * t1[1], out[4] = 3.0f * t2[4] - a[1] * t1[2], out[5] = 3.0f * t2[5] - a[2] * t1[2];
  }
};

/// E = F(v)^2 = g_lm v^l v^m, constant along a geodesic.
template <class Number>
VOXHERD_FUNCTION inline Number finsler4_energy(const Number (&t)[quartic_size], const Number (&v)[3]) {
  return lane::sqrt(quartic_value(t, v));
}

/// d2x/dt2 of the geodesic through v; derivative[k] is dT/dx^k. From x''^i = -1/2 g^il (d2F^2/dx^k dv^l v^k -
/// dF^2/dx^l), with s = v^k d_k and all multiplied by q^(1/2):
/// a = -1/2 (q^(1/2) g)^-1 b, b_l = 2 (sT)_l - T_l (s q) / q - 1/2 d_l q.
template <class Number>
VOXHERD_FUNCTION inline void finsler4_acceleration(const Number (&t)[quartic_size],
                                                   const Number (&derivative)[3][quartic_size], const Number (&v)[3],
                                                   Number (&a)[3]) {
  const finsler4_at<Number> at(t, v);
  Number monomials[quartic_size], along[quartic_size], dq[3];
  quartic_monomials(v, monomials);
  VOXHERD_UNROLL
  for (int k = 0; k < 3; ++k) dq[k] = quartic_sum(derivative[k], monomials);
  VOXHERD_UNROLL
  for (int n = 0; n < quartic_size; ++n)
    along[n] = derivative[0][n] * v[0] + derivative[1][n] * v[1] + derivative[2][n] * v[2];
  const finsler4_at<Number> change(along, v);
  const Number f = change.q / at.q;
  Number metric[6], b[3];
  VOXHERD_UNROLL
  for (int l = 0; l < 3; ++l) b[l] = 0.5f * (f * at.t1[l] + 0.5f * dq[l]) - change.t1[l];
  at.scaled_metric(metric);
  solve(metric, b, a);
}

/// Iterates over 160 unit vectors on a Fibonacci spiral over the half sphere z > 0 (each rotated from the previous one
/// by the golden angle). With their opposites these are 320 directions; every direction is within 8 degrees of one of
/// them.
class half_sphere {
 public:
  static constexpr int count = 160;

  VOXHERD_FUNCTION void next(double (&w)[3]) {
    const double z = 1 - (taken_ + 0.5) / count, r = std::sqrt(1 - z * z);
    w[0] = r * cosine_, w[1] = r * sine_, w[2] = z;
    ++taken_;
    constexpr double c = -0.73736887807831985597, s = 0.67549029426152362720;  // of the golden angle
    const double turned = c * cosine_ - s * sine_;
    sine_ = s * cosine_ + c * sine_;
    cosine_ = turned;
  }

 private:
  double cosine_ = 1, sine_ = 0;
  int taken_ = 0;
};

/// Whether all eigenvalues of the fundamental tensor g(v) exceed `margin` in 320 directions. F is a norm if they exceed
/// 0 in every direction.
VOXHERD_FUNCTION inline bool finsler4_convex(const double (&t)[quartic_size], double margin) {
  half_sphere directions;
  for (int i = 0; i < half_sphere::count; ++i) {
    double v[3], g[6];
    directions.next(v);
    const finsler4_at<double> at(t, v);
    if (!(at.q > 0)) return false;
    at.scaled_metric(g);
    const double floor = margin * std::sqrt(at.q);
    g[0] -= floor, g[3] -= floor, g[5] -= floor;
    const double minor = g[0] * g[3] - g[1] * g[1];
    const double determinant = minor * g[5] - g[0] * g[4] * g[4] + 2 * g[1] * g[2] * g[4] - g[3] * g[2] * g[2];
    if (!(g[0] > 0 && minor > 0 && determinant > 0)) return false;
  }
  return true;
}

/// Mixes the smallest part of the Euclidean norm |v|^4 into `t` that makes its fundamental tensor exceed `margin`
/// (below 1): t becomes (1 - part) t + part |v|^4. Returns the part, a multiple of 1/256; 0 if nothing had to be done.
/// Sums of such tensors are convex again (F is then an l4 norm of norms), so that the valid parts form an interval up
/// to 1, whose end is found by bisection.
VOXHERD_FUNCTION inline double finsler4_make_convex(double (&t)[quartic_size], double margin) {
  if (finsler4_convex(t, margin)) return 0;
  constexpr double unit[6] = {1, 0, 0, 1, 0, 1};
  double round[quartic_size], mixed[quartic_size];
  quartic_of_metric(unit, round);
  const auto mix = [&](double part) {
    for (int n = 0; n < quartic_size; ++n) mixed[n] = (1 - part) * t[n] + part * round[n];
  };
  int too_little = 0, enough = 256;
  while (enough - too_little > 1) {
    const int middle = (enough + too_little) / 2;
    mix(middle / 256.0);
    (finsler4_convex(mixed, margin) ? enough : too_little) = middle;
  }
  mix(enough / 256.0);
  // A tensor that is not finite does not enter the mixture.
  for (int n = 0; n < quartic_size; ++n) t[n] = enough == 256 ? round[n] : mixed[n];
  return enough / 256.0;
}

}  // namespace voxherd::tensor_field
