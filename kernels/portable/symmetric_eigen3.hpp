#pragma once

#include <cmath>
#include <limits>

#include "kernels/portable/function.hpp"

namespace voxherd {

/// Eigenvalues in decreasing order; vector[k] is the unit eigenvector of value[k] with arbitrary sign.
template <class T>
struct eigen_system3 {
  T value[3];
  T vector[3][3];
};

namespace detail {

/// One Jacobi rotation that zeroes the off-diagonal element `apq`. `arp`, `arq` are the elements that p and q share
/// with the third axis; `vp`, `vq` the accumulated columns (Golub & Van Loan, 4th ed., section 8.5.2).
template <class T>
VOXHERD_FUNCTION inline void jacobi_rotate(T& app, T& aqq, T& apq, T& arp, T& arq, T (&vp)[3], T (&vq)[3]) {
  const T theta = (aqq - app) / (2 * apq);
  const T t = (theta < 0 ? T(-1) : T(1)) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  const T c = 1 / std::sqrt(t * t + 1), s = t * c;
  app -= t * apq;
  aqq += t * apq;
  apq = 0;
  const T rp = arp, rq = arq;
  arp = c * rp - s * rq;
  arq = s * rp + c * rq;
  for (int i = 0; i < 3; ++i) {
    const T p = vp[i], q = vq[i];
    vp[i] = c * p - s * q;
    vq[i] = s * p + c * q;
  }
}

template <class T>
VOXHERD_FUNCTION inline bool negligible(T apq, T app, T aqq) {
  return std::fabs(apq) <= std::numeric_limits<T>::epsilon() * std::sqrt(std::fabs(app) * std::fabs(aqq));
}

template <class T>
VOXHERD_FUNCTION inline void order_pair(eigen_system3<T>& e, int high, int low) {
  if (!(e.value[high] < e.value[low])) return;
  const T v = e.value[high];
  e.value[high] = e.value[low];
  e.value[low] = v;
  for (int i = 0; i < 3; ++i) {
    const T x = e.vector[high][i];
    e.vector[high][i] = e.vector[low][i];
    e.vector[low][i] = x;
  }
}

}  // namespace detail

/// Eigendecomposition of the symmetric matrix with these six elements, in any unit, by cyclic Jacobi rotations:
/// eigenvalues accurate to a few rounding errors of the largest one, vectors orthogonal to rounding, also for equal
/// eigenvalues, where the closed formula with arc cosines loses half of the digits. NaN in, NaN out.
template <class T>
VOXHERD_FUNCTION inline eigen_system3<T> symmetric_eigen3(T xx, T xy, T xz, T yy, T yz, T zz) {
  using detail::jacobi_rotate;
  using detail::negligible;
  T v0[3] = {1, 0, 0}, v1[3] = {0, 1, 0}, v2[3] = {0, 0, 1};
  constexpr int max_sweeps = 12;  // converges quadratically: five or six sweeps in double
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    const bool xy_done = negligible(xy, xx, yy), xz_done = negligible(xz, xx, zz), yz_done = negligible(yz, yy, zz);
    if (xy_done && xz_done && yz_done) break;
    if (xy != 0) jacobi_rotate(xx, yy, xy, xz, yz, v0, v1);
    if (xz != 0) jacobi_rotate(xx, zz, xz, xy, yz, v0, v2);
    if (yz != 0) jacobi_rotate(yy, zz, yz, xy, xz, v1, v2);
  }
  eigen_system3<T> e{{xx, yy, zz}, {{v0[0], v0[1], v0[2]}, {v1[0], v1[1], v1[2]}, {v2[0], v2[1], v2[2]}}};
  detail::order_pair(e, 0, 1);
  detail::order_pair(e, 1, 2);
  detail::order_pair(e, 0, 1);
  return e;
}

}  // namespace voxherd
