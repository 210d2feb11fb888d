#pragma once

#include "kernels/portable/double_fma.hpp"
#include "kernels/portable/function.hpp"

namespace voxherd::connect {

/// S = sum of weight[i] e_i e_i^T with weight >= 0 and integer vectors e_i.
struct selling_decomposition {
  double weight[6];
  int offset[6][3];
};

namespace detail {

VOXHERD_FUNCTION inline double product(const double (&s)[6], const int (&a)[3], const int (&b)[3]) {
  return s[0] * a[0] * b[0] + s[3] * a[1] * b[1] + s[5] * a[2] * b[2] + s[1] * (a[0] * b[1] + a[1] * b[0]) +
         s[2] * (a[0] * b[2] + a[2] * b[0]) + s[4] * (a[1] * b[2] + a[2] * b[1]);
}

}  // namespace detail

/// Selling's algorithm (Conway & Sloane 1992; Mirebeau, Numer Math 126:515, 2014, for S in three dimensions): a
/// superbase b_0..b_3 with sum zero is changed until all b_i . S b_j <= 0; the weight of b_k x b_l is then -b_i . S
/// b_j. S: xx, xy, xz, yy, yz, zz, positive definite. Offsets grow with the square root of the ratio of eigenvalues.
VOXHERD_FUNCTION inline selling_decomposition decompose(const double (&s)[6]) {
  constexpr int pair[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
  constexpr int max_changes = 4000;  // at most a few times the square root of the ratio are needed
  int b[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, -1, -1}};
  const double tolerance = 1e-14 * (s[0] + s[3] + s[5]);
  bool obtuse = false;
  for (int change = 0; change < max_changes && !obtuse; ++change) {
    obtuse = true;
    for (int n = 0; n < 6 && obtuse; ++n) {
      const int i = pair[n][0], j = pair[n][1], k = pair[n][2], l = pair[n][3];
      if (detail::product(s, b[i], b[j]) <= tolerance) continue;
      obtuse = false;
      for (int d = 0; d < 3; ++d) {
        b[k][d] += b[i][d];
        b[l][d] += b[i][d];
        b[i][d] = -b[i][d];
      }
    }
  }
  selling_decomposition out;
  for (int n = 0; n < 6; ++n) {
    const int(&p)[3] = b[pair[n][2]];
    const int(&q)[3] = b[pair[n][3]];
    const double w = -detail::product(s, b[pair[n][0]], b[pair[n][1]]);
    out.weight[n] = w > 0 ? w : 0;
    out.offset[n][0] = p[1] * q[2] - p[2] * q[1];
    out.offset[n][1] = p[2] * q[0] - p[0] * q[2];
    out.offset[n][2] = p[0] * q[1] - p[1] * q[0];
  }
  return out;
}

}  // namespace voxherd::connect
