#pragma once

#include <cstdint>
#include <vector>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/solver_types.hpp"

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

/// Only what follows from the mask; `field.tensors` may be empty. Throws std::invalid_argument: wrong array sizes, an
/// empty mask, more than 2^28 voxels.
lattice number_voxels(const speed_field& field);
/// The rest: tensor, weight, offset, open. `tensors`: as speed_field::tensors.
void set_speeds(lattice& l, const float* tensors, int threads);
/// Both. Throws as number_voxels(), also without tensors.
lattice build_lattice(const speed_field& field, int threads);

/// The cells of each face-connected component of the mask, breadth first.
struct face_parts {
  std::vector<std::uint64_t> offset{0};
  std::vector<std::uint32_t> cell;

  std::size_t parts() const { return offset.size() - 1; }
  face_parts_view view() const { return {offset.data(), cell.data()}; }
};
face_parts find_face_parts(const lattice& l);

/// One flag per cell: whether it needs a net (directed_block.hpp) because a front cannot enter or leave it along the
/// directions that the mask leaves open, although it is connected to others by faces. Empty if no cell needs one.
std::vector<std::uint8_t> cells_that_need_nets(const lattice& l);

}  // namespace voxherd::connect
