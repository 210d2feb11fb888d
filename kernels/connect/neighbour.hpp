#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/solver_types.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/tensor_field/symmetric3.hpp"

namespace voxherd::connect {

/// Whether a front may go straight from one voxel centre to another: all voxels that the segment passes through are in
/// the mask; where it passes exactly through an edge or a corner, one of the face-connected detours is also in the
/// mask. Components that are not connected by faces thus stay separate for steps of any length. Symmetric.
template <class Inside>
class step_rule {
 public:
  /// inside(x, y, z): whether a voxel is in the image and in the mask.
  VOXHERD_FUNCTION explicit step_rule(const Inside& inside) : inside_(inside) {}

  VOXHERD_FUNCTION bool operator()(int x, int y, int z, const int (&e)[3]) const {
    int at[3] = {x, y, z};
    if (!is_in(at)) return false;
    int count[3], towards[3], passed[3] = {0, 0, 0};
    for (int d = 0; d < 3; ++d) {
      count[d] = e[d] < 0 ? -e[d] : e[d];
      towards[d] = e[d] < 0 ? -1 : 1;
    }
    // The k-th face across axis d is crossed at (2 k + 1) / (2 count[d]).
    while (passed[0] < count[0] || passed[1] < count[1] || passed[2] < count[2]) {
      int next = -1;
      bool together[3] = {false, false, false};
      for (int d = 0; d < 3; ++d) {
        if (passed[d] == count[d]) continue;
        const int order = next < 0 ? -1 : (2 * passed[d] + 1) * count[next] - (2 * passed[next] + 1) * count[d];
        if (order > 0) continue;
        if (order < 0) together[0] = together[1] = together[2] = false;
        next = order < 0 ? d : next;
        together[d] = true;
      }
      if (!passes(at, together, towards)) return false;
      for (int d = 0; d < 3; ++d) {
        if (!together[d]) continue;
        at[d] += towards[d];
        ++passed[d];
      }
    }
    return true;
  }

 private:
  VOXHERD_FUNCTION bool is_in(const int (&p)[3]) const { return inside_(p[0], p[1], p[2]); }

  /// From `at` by one voxel along each of the axes in `together`, face by face in any order, always in the mask.
  VOXHERD_FUNCTION bool passes(const int (&at)[3], const bool (&together)[3], const int (&towards)[3]) const {
    // Bit d of a corner: moved along d. A corner is reached from those with one bit less.
    unsigned all = 0;
    for (int d = 0; d < 3; ++d) all |= together[d] ? 1u << d : 0u;
    bool reached[8] = {true, false, false, false, false, false, false, false};
    for (unsigned corner = 1; corner <= all; ++corner) {
      if ((corner & ~all) != 0) continue;
      const int p[3] = {at[0] + ((corner & 1) != 0 ? towards[0] : 0), at[1] + ((corner & 2) != 0 ? towards[1] : 0),
                        at[2] + ((corner & 4) != 0 ? towards[2] : 0)};
      bool before = false;
      for (unsigned d = 0; d < 3; ++d) before = before || ((corner >> d & 1) != 0 && reached[corner & ~(1u << d)]);
      reached[corner] = before && is_in(p);
    }
    return reached[all];
  }

  Inside inside_;
};

VOXHERD_FUNCTION inline void voxel_place(const lattice_view& lattice, std::int32_t voxel, int (&at)[3]) {
  at[0] = voxel % lattice.size[0];
  at[1] = voxel / lattice.size[0] % lattice.size[1];
  at[2] = voxel / lattice.size[0] / lattice.size[1];
}

VOXHERD_FUNCTION inline void read_tensor(const lattice_view& lattice, std::uint32_t cell, float (&s)[6]) {
  for (int n = 0; n < 6; ++n) s[n] = lattice.tensor[lattice_view::plane(cell, 6, n)];
}

/// Of the cell's S.
VOXHERD_FUNCTION inline float trace_of(const lattice_view& l, std::uint32_t cell) {
  float trace = 0;
  for (const int e : {0, 3, 5}) trace += l.tensor[lattice_view::plane(cell, selling_directions, e)];
  return trace;
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
