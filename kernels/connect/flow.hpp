#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/connect/neighbour.hpp"

namespace voxherd::connect {

struct lattice;
struct start_list;

/// Direction of a path at a cell, back to the source.
struct alignas(16) flow {
  float direction[3];  ///< unit vector in index space; 0 at the source and where unreached
  float arrival;       ///< arrival time, `unreached` outside the mask

  VOXHERD_FUNCTION bool is_reached() const { return arrival < unreached; }
  VOXHERD_FUNCTION bool has_direction() const { return direction[0] != 0 || direction[1] != 0 || direction[2] != 0; }
};

/// Flow of a cell: index (front - first) * 64 blocks + cell. The direction is -S grad u, along the ray, rather than
/// -grad u, which crosses it where S is anisotropic (Jeong 2007, section 5). Discretised as sum_i w_i (u - u_i)+ e_i
/// with u_i the smaller of the open neighbours at +-e_i, as in the scheme for u, so that it never leads only to later
/// times (Mirebeau 2014). If no such neighbour is smaller: towards the best of the nearest ones.
struct flow_maker {
  lattice_view lattice;
  const float* arrival;  ///< 64 blocks per front
  std::uint32_t first;   ///< front
  flow* to;              ///< from front `first` on

  VOXHERD_FUNCTION void operator()(std::uint32_t index) const {
    const std::uint32_t cells = lattice.blocks * block_cells, cell = index % cells;
    const float* u = arrival + (std::size_t{first} + index / cells) * cells;
    to[index] = of(cell, u);
  }

 private:
  VOXHERD_FUNCTION flow of(std::uint32_t cell, const float* u) const {
    const std::int32_t voxel = lattice.find_voxel[cell];
    if (voxel < 0 || !(u[cell] < unreached)) return {{0, 0, 0}, unreached};
    int at[3];
    voxel_place(lattice, voxel, at);
    float sum[3] = {0, 0, 0};
    for (int i = 0; i < selling_directions; ++i) add(cell, at, u, i, sum);
    float square = tensor_field::dot(sum, sum);
    if (!(square > 0)) {
      int step[3] = {0, 0, 0};
      best_neighbour(
          lattice, cell, at, [u](std::uint32_t c) { return u[c]; }, step);
      for (int d = 0; d < 3; ++d) sum[d] = static_cast<float>(step[d]);
      square = tensor_field::dot(sum, sum);
    }
    const float scale = square > 0 ? 1 / sqrtf(square) : 0;
    return {{sum[0] * scale, sum[1] * scale, sum[2] * scale}, u[cell]};
  }

  VOXHERD_FUNCTION void add(std::uint32_t cell, const int (&at)[3], const float* u, int i, float (&sum)[3]) const {
    const std::uint32_t open = lattice.open[cell] >> (2 * i);
    if ((open & 3) == 0) return;
    int e[3];
    unpack_offset(lattice.offset[lattice_view::plane(cell, selling_directions, i)], e);
    float lowest = u[cell];
    int towards = 0;
    for (int side = 0; side < 2; ++side) {
      if ((open >> side & 1) == 0) continue;
      const int sign = side == 0 ? 1 : -1;
      const std::int32_t near_cell = lattice.cell_at(at[0] + sign * e[0], at[1] + sign * e[1], at[2] + sign * e[2]);
      if (near_cell < 0 || !(u[near_cell] < lowest)) continue;
      lowest = u[near_cell];
      towards = sign;
    }
    const float weight = lattice.weight[lattice_view::plane(cell, selling_directions, i)];
    const float share = weight * (u[cell] - lowest) * static_cast<float>(towards);
    for (int d = 0; d < 3; ++d) sum[d] += share * static_cast<float>(e[d]);
  }
};

/// The end of a front's paths. For a front that started at a point, this is the point, and paths within `radius` of it
/// are straight. Paths of other fronts end where no neighbour is nearer to the source; `latest` distinguishes such
/// voxels from those where a path is stuck.
struct front_start {
  float point[3];  ///< index coordinates
  float radius;    ///< voxels; below 0: the front did not start at a point
  float latest;    ///< latest arrival time among the starts
};

/// Detects the fronts that started at a point (one voxel, or the exact arrival times of starts_at_point()) and computes
/// the point, which a start list does not contain.
std::vector<front_start> find_front_starts(const lattice& l, const start_list& fronts);
/// The same from a view in host memory, of which only the tensors and the numbering of voxels are read.
std::vector<front_start> find_front_starts(const lattice_view& l, std::span<const std::uint32_t> cell_of_number,
                                           const start_list& fronts);

}  // namespace voxherd::connect
