#pragma once

#include <cstdint>
#include <cstdlib>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/neighbour.hpp"
#include "kernels/connect/selling.hpp"

namespace voxherd::connect {

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
