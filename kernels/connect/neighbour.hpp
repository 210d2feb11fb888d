#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/solver.hpp"
#include "kernels/connect/step_rule.hpp"
#include "kernels/tensor_field/symmetric3.hpp"

namespace voxherd::connect {

VOXHERD_FUNCTION inline void voxel_place(const lattice_view& lattice, std::int32_t voxel, int (&at)[3]) {
  at[0] = voxel % lattice.size[0];
  at[1] = voxel / lattice.size[0] % lattice.size[1];
  at[2] = voxel / lattice.size[0] / lattice.size[1];
}

VOXHERD_FUNCTION inline void read_tensor(const lattice_view& lattice, std::uint32_t cell, float (&s)[6]) {
  for (int n = 0; n < 6; ++n) s[n] = lattice.tensor[lattice_view::plane(cell, 6, n)];
}

/// Cost of a straight segment v if the square of the speed is s: sqrt(v . S^-1 v).
VOXHERD_FUNCTION inline float piece_cost(const float (&s)[6], const float (&v)[3]) {
  float q[3];
  tensor_field::solve(s, v, q);
  return sqrtf(tensor_field::dot(v, q));
}

/// The neighbour with the least arrival time plus cost of the straight step to it, among neighbours with an arrival
/// time below this cell's: open Selling neighbours and faces; if none of them is lower, the other diagonals (from which
/// an arrival time of hl26 may come). `step` is the offset to it. -1 if none is lower.
template <class Arrival>
VOXHERD_FUNCTION inline std::int32_t best_neighbour(const lattice_view& lattice, std::uint32_t cell, const int (&at)[3],
                                                    const Arrival& arrival, int (&step)[3]) {
  const float here = arrival(cell);
  float s[6];
  read_tensor(lattice, cell, s);
  std::int32_t best = -1;
  float least = unreached;
  const auto consider = [&](const int(&e)[3]) {
    const std::int32_t near_cell = lattice.cell_at(at[0] + e[0], at[1] + e[1], at[2] + e[2]);
    if (near_cell < 0) return;
    const float u = arrival(static_cast<std::uint32_t>(near_cell));
    if (!(u < here)) return;
    const float v[3] = {static_cast<float>(e[0]), static_cast<float>(e[1]), static_cast<float>(e[2])};
    const float through = u + piece_cost(s, v);
    if (!(through < least)) return;
    least = through;
    best = near_cell;
    for (int d = 0; d < 3; ++d) step[d] = e[d];
  };
  const std::uint32_t open = lattice.open[cell];
  for (int n = 0; n < 2 * selling_directions; ++n) {
    if ((open >> n & 1) == 0) continue;
    int e[3];
    unpack_offset(lattice.offset[lattice_view::plane(cell, selling_directions, n / 2)], e);
    if (n % 2 == 1)
      for (int& x : e) x = -x;
    consider(e);
  }
  const auto inside = [&](int x, int y, int z) { return lattice.cell_at(x, y, z) >= 0; };
  const step_rule may(inside);
  for (int corners = 0; corners < 2 && best < 0; ++corners) {
    for (int n = 0; n < 27; ++n) {
      const int e[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      const int axes = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
      if (axes > 0 && (axes > 1) == (corners == 1) && may(at[0], at[1], at[2], e)) consider(e);
    }
  }
  return best;
}

}  // namespace voxherd::connect
