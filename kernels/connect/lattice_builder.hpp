#pragma once

#include <cstdint>
#include <vector>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/solver.hpp"

namespace voxherd::connect {

/// A lattice in host memory.
struct lattice {
  int size[3]{};
  std::uint32_t blocks = 0;
  std::vector<std::int32_t> cell_of, find_voxel;
  std::vector<float> tensor, weight;
  std::vector<std::int32_t> offset;
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> cell_of_number;  ///< cells of the voxels in the mask, by increasing linear index

  std::size_t cells() const { return std::size_t{blocks} * block_cells; }
  lattice_view view() const;
};

/// Throws std::invalid_argument: wrong array sizes, an empty mask, more than 2^28 voxels.
lattice build_lattice(const speed_field& field, int threads);

/// One flag per cell: whether it needs a net (directed_block.hpp) because a front cannot enter or leave it along the
/// directions that the mask leaves open, although it is connected to others by faces. Empty if no cell needs one.
std::vector<std::uint8_t> cells_that_need_nets(const lattice& l);

}  // namespace voxherd::connect
