#pragma once

#include "kernels/portable/double_fma.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"

namespace voxherd::connect {

/// Arrival time at a voxel from its 26 neighbours by the Hopf-Lax formula (Bornemann & Rasch, Comput Visual Sci 9:57,
/// 2006): the minimum, over points y of the surface formed by 48 triangles between the neighbours, of u(y), linear in
/// each triangle, plus the cost of the straight path from y. Computed as the minimum over the interior stationary
/// points of 48 triangles and 72 edges, and 26 vertices; each is an upper bound by itself.
///
/// On a simplex with vertices f_i, p . f_i = u - v_i for the unknown p, so differences of the v_i are components of p
/// in an integer basis, and p . S p = 1 determines the remaining component. The stationary point is inside if q = S p
/// is a positive combination of the f_i. The bases are chosen such that only S is needed, not its inverse.
template <class Number>
struct hopf_lax26 {
  /// S: xx, xy, xz, yy, yz, zz in index space.
  VOXHERD_FUNCTION explicit hopf_lax26(const Number (&s)[6]) : s_{s[0], s[1], s[2], s[3], s[4], s[5]} {
    per_s_[0] = lane::reciprocal(s[0]);
    per_s_[1] = lane::reciprocal(s[3]);
    per_s_[2] = lane::reciprocal(s[5]);
    const plane xy = eliminated(s[0], s[3], s[1], s[2], s[4], per_s_[2]);
    min_step_ = lane::sqrt(lane::min(per_s_[0], lane::min(per_s_[1], per_s_[2])));
    det_ = (xy.aa * xy.bb - xy.ab * xy.ab) * s[5];
  }

  /// `u(dx, dy, dz)`: arrival time at a neighbour, `unreached` or more if missing; dx, dy, dz are -1, 0 or 1, not all
  /// 0. Returns the smallest u, or `old` if that is smaller.
  template <class Neighbours>
  VOXHERD_FUNCTION Number operator()(const Neighbours& u, Number old) const {
    Number best = old;
    plane_neighbours<0, 1>(best, u, eliminated(s_[0], s_[3], s_[1], s_[2], s_[4], per_s_[2]), per_s_[2]);
    plane_neighbours<0, 2>(best, u, eliminated(s_[0], s_[5], s_[2], s_[1], s_[4], per_s_[1]), per_s_[1]);
    plane_neighbours<1, 2>(best, u, eliminated(s_[3], s_[5], s_[4], s_[1], s_[2], per_s_[0]), per_s_[0]);
    VOXHERD_UNROLL_BY(1)
    for (int signs = 0; signs < 8; ++signs) octant(best, u, signs & 1 ? -1 : 1, signs & 2 ? -1 : 1, signs & 4 ? -1 : 1);
    return best;
  }

 private:
  /// S on two axes if the third component of S p is 0.
  struct plane {
    Number aa, bb, ab;
  };
  VOXHERD_FUNCTION static plane eliminated(Number aa, Number bb, Number ab, Number ac, Number bc, Number per_cc) {
    const Number f = ac * per_cc, g = bc * per_cc;
    return {lane::fma(-f, ac, aa), lane::fma(-g, bc, bb), lane::fma(-f, bc, ab)};
  }

  /// Edges of triangles between the neighbour f with value `near` and f + d with value `far`. S on the plane of f and
  /// d: `first` for f, `mixed` for both.
  struct edge {
    Number first, mixed, det, per_first;
    VOXHERD_FUNCTION edge(Number a, Number b, Number d) : first(a), mixed(b), det(d), per_first(lane::reciprocal(a)) {}
    VOXHERD_FUNCTION void lower(Number& best, Number near, Number far) const {
      const Number d = near - far;
      const Number z = det * d;
      const Number root = lane::sqrt(lane::fma(-z, d, first));  // NaN fails every comparison
      const Number q = lane::fma(mixed, root, z);
      const Number u = lane::fma(lane::fma(-mixed, d, root), per_first, near);
      best = lane::select((q >= 0.0f) & (q <= first * root) & (u < best), u, best);
    }
  };

  /// Vertices a, a + b and the edges between them in the plane of two axes, and the vertices on the axes.
  template <int A, int B, class Neighbours>
  VOXHERD_FUNCTION void plane_neighbours(Number& best, const Neighbours& u, const plane& q, Number per_cc) const {
    const Number det = det_ * per_cc, per_det = lane::reciprocal(det);
    const Number step_a = lane::sqrt(q.bb * per_det), step_b = lane::sqrt(q.aa * per_det);
    VOXHERD_UNROLL_BY(1)
    for (int side = 1; side >= -1; side -= 2) {
      const Number ab = static_cast<float>(side) * q.ab;
      const Number step = lane::sqrt((q.aa + q.bb - 2.0f * ab) * per_det);
      const edge from_a(q.aa, ab, det), from_b(q.bb, ab, det);
      VOXHERD_UNROLL
      for (int sign = 1; sign >= -1; sign -= 2) {
        const int b = sign * side;
        const Number on_a = A == 0 ? u(sign, 0, 0) : u(0, sign, 0);
        const Number on_b = B == 1 ? u(0, b, 0) : u(0, 0, b);
        const Number both = A == 1 ? u(0, sign, b) : B == 1 ? u(sign, b, 0) : u(sign, 0, b);
        best = lane::min(lane::min(best, both + step), lane::min(on_a + step_a, on_b + step_b));
        from_a.lower(best, on_a, both);
        from_b.lower(best, on_b, both);
      }
    }
  }

  /// The corner of an octant, the edges to it, and the triangles.
  template <class Neighbours>
  VOXHERD_FUNCTION void octant(Number& best, const Neighbours& u, int sx, int sy, int sz) const {
    const Number x = u(sx, 0, 0), y = u(0, sy, 0), z = u(0, 0, sz);
    const Number x_y = u(sx, sy, 0), x_z = u(sx, 0, sz), y_z = u(0, sy, sz), far = u(sx, sy, sz);
    const Number earliest =
        lane::min(lane::min(lane::min(x, y), lane::min(z, far)), lane::min(x_y, lane::min(x_z, y_z)));
    if (!lane::any(earliest + min_step_ < best)) return;

    const Number xx = s_[0], yy = s_[3], zz = s_[5];
    const Number xy = static_cast<float>(sx * sy) * s_[1], xz = static_cast<float>(sx * sz) * s_[2];
    const Number yz = static_cast<float>(sy * sz) * s_[4];
    const Number x_to_y = xx + yy - 2.0f * xy, x_to_z = xx + zz - 2.0f * xz, y_to_z = yy + zz - 2.0f * yz;
    const Number per_xy = lane::reciprocal(x_to_y), per_xz = lane::reciprocal(x_to_z);
    const Number per_yz = lane::reciprocal(y_to_z);

    const edge from_x = across(xx, xy, xz, yy, yz, per_yz);
    const Number in_yz = lane::fma(-yz, yz, yy * zz) * per_yz;
    const Number step = lane::sqrt((from_x.first + in_yz - 2.0f * from_x.mixed) * y_to_z * lane::reciprocal(det_));
    best = lane::min(best, far + step);
    from_x.lower(best, x, far);
    across(yy, xy, yz, xx, xz, per_xz).lower(best, y, far);
    across(zz, xz, yz, xx, xy, per_xy).lower(best, z, far);
    upwards(xx, xy, xz, yz, per_xy).lower(best, x_y, far);
    upwards(xx, xz, xy, yz, per_xz).lower(best, x_z, far);
    upwards(yy, yz, xy, xz, per_yz).lower(best, y_z, far);

    triangles(best, xx, per_s_[0], yy, zz, xy, xz, yz, x, x_y, x_z, far);
    triangles(best, yy, per_s_[1], xx, zz, xy, yz, xz, y, x_y, y_z, far);
    triangles(best, zz, per_s_[2], xx, yy, xz, yz, xy, z, x_z, y_z, far);
  }

  /// Edges from a to a + (b + c).
  VOXHERD_FUNCTION edge across(Number aa, Number ab, Number ac, Number bb, Number bc, Number per_bc) const {
    const Number f = (ac - ab) * per_bc;
    return edge(lane::fma(-f, ac - ab, aa), lane::fma(-f, bc - bb, ab), det_ * per_bc);
  }
  /// Edges from a + b to (a + b) + c.
  VOXHERD_FUNCTION edge upwards(Number aa, Number ab, Number ac, Number bc, Number per_ab) const {
    const Number f = (ab - aa) * per_ab;
    return edge(lane::fma(-f, ab - aa, aa), lane::fma(-f, bc - ac, ac), det_ * per_ab);
  }

  /// Triangles a, a + b, a + b + c and a, a + c, a + b + c.
  VOXHERD_FUNCTION static void triangles(Number& best, Number aa, Number per_aa, Number bb, Number cc, Number ab,
                                         Number ac, Number bc, Number a, Number a_b, Number a_c, Number far) {
    const Number fb = ab * per_aa, fc = ac * per_aa;
    const plane q = eliminated(bb, cc, bc, ab, ac, per_aa), turned{q.bb, q.aa, q.ab};
    triangle(best, aa, ab, ac, per_aa, fb, fc, q, a, a_b, far);
    triangle(best, aa, ac, ab, per_aa, fc, fb, turned, a, a_c, far);
  }
  VOXHERD_FUNCTION static void triangle(Number& best, Number aa, Number ab, Number ac, Number per_aa, Number fb,
                                        Number fc, const plane& q, Number first, Number second, Number third) {
    const Number db = first - second, dc = second - third;
    const Number zb = lane::fma(q.aa, db, q.ab * dc), zc = lane::fma(q.ab, db, q.bb * dc);
    const Number root = lane::sqrt(per_aa * lane::fma(-db, zb, lane::fma(-dc, zc, Number(1.0f))));
    const Number qb = lane::fma(ab, root, zb), qc = lane::fma(ac, root, zc);
    const Number u = first + lane::fma(-fb, db, lane::fma(-fc, dc, root));
    best = lane::select((aa * root >= qb) & (qb >= qc) & (qc >= 0.0f) & (u < best), u, best);
  }

  Number s_[6];
  Number per_s_[3];  ///< 1 / S_dd
  Number det_;       ///< determinant of S
  Number min_step_;  ///< lower bound of the cost from the surface: sqrt(S_dd) is the speed across axis d
};

/// The scheme of a cube_scheme.
struct hopf_lax26_local {
  template <class Number, class Neighbours>
  VOXHERD_FUNCTION Number operator()(const Number (&s)[6], const Neighbours& u, Number old) const {
    return hopf_lax26<Number>(s)(u, old);
  }
};

}  // namespace voxherd::connect
