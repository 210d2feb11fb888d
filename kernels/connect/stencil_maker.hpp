#pragma once

#include <cstdint>
#include <cstdlib>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/neighbour.hpp"
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

/// Directions with less than this fraction of the trace are left out: they change S by less than its rounding error.
inline constexpr double min_weight = 1e-9;
inline constexpr int longest_offset = 127;

/// Computes the tensor, weights, offsets and open directions of one cell. `tensors`: as speed_field::tensors.
struct stencil_maker {
  lattice_view l;
  const float* tensors;
  float *tensor, *weight;
  std::int32_t* offset;
  std::uint32_t* open;

  VOXHERD_FUNCTION void operator()(std::uint32_t cell) const {
    const std::int32_t voxel = l.find_voxel[cell];
    for (int n = 0; n < selling_directions; ++n) {
      const std::size_t at = lattice_view::plane(cell, selling_directions, n);
      tensor[at] = voxel < 0 ? 0 : tensors[std::size_t{8} * static_cast<unsigned>(voxel) + static_cast<unsigned>(n)];
      weight[at] = 0;
      offset[at] = 0;
    }
    open[cell] = 0;
    if (voxel >= 0) decompose_cell(cell, voxel);
  }

 private:
  VOXHERD_FUNCTION void decompose_cell(std::uint32_t cell, std::int32_t voxel) const {
    const int x = voxel % l.size[0], y = voxel / l.size[0] % l.size[1], z = voxel / l.size[0] / l.size[1];
    double s[6];
    for (int n = 0; n < 6; ++n) s[n] = tensor[lattice_view::plane(cell, selling_directions, n)];
    const selling_decomposition d = decompose(s);
    const auto inside = [&](int a, int b, int c) { return l.cell_at(a, b, c) >= 0; };
    const step_rule may(inside);
    std::uint32_t bits = 0;
    for (int n = 0; n < selling_directions; ++n) {
      int e[3] = {d.offset[n][0], d.offset[n][1], d.offset[n][2]}, back[3] = {-e[0], -e[1], -e[2]};
      bool short_enough = true;
      for (const int part : e) short_enough = short_enough && std::abs(part) <= longest_offset;
      if (!short_enough || d.weight[n] < min_weight * (s[0] + s[3] + s[5])) continue;
      const std::size_t at = lattice_view::plane(cell, selling_directions, n);
      weight[at] = static_cast<float>(d.weight[n]);
      offset[at] = pack_offset(e);
      const bool forth = may(x, y, z, e), behind = may(x, y, z, back);
      bits |= (forth ? 1u : 0u) << (2 * n) | (behind ? 2u : 0u) << (2 * n);
      if (forth && may(x + e[0], y + e[1], z + e[2], e)) bits |= second_open << (2 * n);
      if (behind && may(x + back[0], y + back[1], z + back[2], back)) bits |= second_open << (2 * n + 1);
    }
    open[cell] = bits;
  }
};

}  // namespace voxherd::connect
