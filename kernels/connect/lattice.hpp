#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/portable/contract.hpp"

namespace voxherd::connect {

/// Arrival time of cells not reached yet and of missing neighbours. Finite, so that the difference of two of them is
/// not NaN; replaced by infinity in the output.
inline constexpr float unreached = 1e30f;

/// Voxels are stored in blocks of 4 x 4 x 4; only blocks with a voxel in the mask are stored. A voxel's index in all
/// arrays is its cell: 64 * block + x + 4 y + 16 z, with its position in the block. Arrays with several numbers per
/// voxel are stored in planes of 64 within a block: number n of cell c is at (c / 64 * numbers + n) * 64 + c % 64.
inline constexpr int block_side = 4;
inline constexpr int block_cells = 64;

/// S = sum of weight_i e_i e_i^T, i < 6, with integer vectors e_i (Selling's decomposition).
inline constexpr int selling_directions = 6;

/// In lattice_view::open, for second order: the first of the bits that tell whether the same step may be taken again.
inline constexpr std::uint32_t second_open = 1u << 2 * selling_directions;

/// Neighbours of a cell, in pairs: pair i is x + e_i and x - e_i; pair 6 + i is x + 2 e_i and x - 2 e_i.
inline constexpr int first_pairs = selling_directions, second_pairs = 2 * selling_directions;

/// Maximum number of blocks that a block may read, including itself. A neighbour's index is its block's position in the
/// list and its cell there.
inline constexpr std::uint32_t max_read_blocks = 255;

/// A block and one voxel around it.
inline constexpr int cube_side = block_side + 2, cube_cells = cube_side * cube_side * cube_side;

/// Index in the cube of a cell of the block, and offset of its neighbour at (dx, dy, dz).
VOXHERD_FUNCTION constexpr int cube_place(int cell) {
  assert(cell >= 0 && cell < block_cells);
  return cell % 4 + 1 + cube_side * (cell / 4 % 4 + 1 + cube_side * (cell / 16 + 1));
}
VOXHERD_FUNCTION constexpr int cube_step(int dx, int dy, int dz) { return dx + cube_side * (dy + cube_side * dz); }

/// A masked grid with its tensors as kernels read it. Pointers refer to device memory. Index space: voxels are cubes of
/// side 1; grad(u) . S grad(u) = 1.
struct lattice_view {
  int size[3];
  std::uint32_t blocks;
  const std::int32_t* cell_of;     ///< (nz, ny, nx): cell of a voxel, -1 outside the mask
  const std::int32_t* find_voxel;  ///< voxel of a cell, linear index with x fastest; -1 if it is not in the mask
  const float* tensor;             ///< 6 per cell: S xx, xy, xz, yy, yz, zz
  const float* weight;             ///< 6 per cell
  const std::int32_t* offset;      ///< 6 per cell: e_i as three signed bytes, x lowest
  const std::uint32_t* open;       ///< 1 per cell: bit 2 i if x + e_i may be reached, bit 2 i + 1 if x - e_i may;
                                   ///< times second_open: also x + 2 e_i, x - 2 e_i

  VOXHERD_FUNCTION static std::size_t plane(std::uint32_t cell, int numbers, int n) {
    assert(n >= 0 && n < numbers);
    return (std::size_t{cell / block_cells} * static_cast<unsigned>(numbers) + static_cast<unsigned>(n)) * block_cells +
           cell % block_cells;
  }
  /// Cell of the voxel at (x, y, z), -1 outside the mask or the image.
  VOXHERD_FUNCTION std::int32_t cell_at(int x, int y, int z) const {
    if (x < 0 || y < 0 || z < 0 || x >= size[0] || y >= size[1] || z >= size[2]) return -1;
    return cell_of[(static_cast<std::size_t>(z) * static_cast<unsigned>(size[1]) + static_cast<unsigned>(y)) *
                       static_cast<unsigned>(size[0]) +
                   static_cast<unsigned>(x)];
  }
};

/// face_parts (lattice_builder.hpp) as kernels read it.
struct face_parts_view {
  const std::uint64_t* offset;
  const std::uint32_t* cell;
};

VOXHERD_FUNCTION inline void unpack_offset(std::int32_t packed, int (&e)[3]) {
  e[0] = static_cast<std::int8_t>(packed & 0xff);
  e[1] = static_cast<std::int8_t>((packed >> 8) & 0xff);
  e[2] = static_cast<std::int8_t>((packed >> 16) & 0xff);
}

VOXHERD_FUNCTION inline std::int32_t pack_offset(const int (&e)[3]) {
  return (e[0] & 0xff) | (e[1] & 0xff) << 8 | (e[2] & 0xff) << 16;
}

}  // namespace voxherd::connect
