#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/portable/function.hpp"

namespace voxherd::connect {

/// Voxels are kept in blocks of 4 x 4 x 4, and only blocks with a voxel inside the mask are kept. A voxel's place in
/// all arrays is its cell: 64 * block + x + 4 y + 16 z of its place in the block. Arrays of several numbers a voxel lie
/// in planes of 64 within a block: number n of cell c is at (c / 64 * numbers + n) * 64 + c % 64.
inline constexpr int block_side = 4;
inline constexpr int block_cells = 64;

/// S = sum of weight_i e_i e_i^T, i < 6, e_i of whole numbers (Selling's decomposition).
inline constexpr int selling_directions = 6;

/// A block and one voxel around it.
inline constexpr int cube_side = block_side + 2, cube_cells = cube_side * cube_side * cube_side;

/// Place in the cube of a cell of the block, and of its neighbour at (dx, dy, dz).
VOXHERD_FUNCTION constexpr int cube_place(int cell) {
  return cell % 4 + 1 + cube_side * (cell / 4 % 4 + 1 + cube_side * (cell / 16 + 1));
}
VOXHERD_FUNCTION constexpr int cube_step(int dx, int dy, int dz) { return dx + cube_side * (dy + cube_side * dz); }

/// A masked grid with its tensors as kernels read it. Pointers are the device's. Index space: voxels are cubes of
/// side 1; grad(u) . S grad(u) = 1.
struct lattice_view {
  int size[3];
  std::uint32_t blocks;
  const std::int32_t* cell_of;   ///< (nz, ny, nx): a voxel's cell, -1 outside the mask
  const std::int32_t* voxel_of;  ///< a cell's voxel, linear index with x fastest; -1 where there is none in the mask
  const float* tensor;           ///< 6 a cell: S xx, xy, xz, yy, yz, zz
  const float* weight;           ///< 6 a cell
  const std::int32_t* offset;    ///< 6 a cell: e_i as three signed bytes, x lowest
  const std::uint32_t* open;     ///< 1 a cell: bit 2 i where x + e_i may be reached, 2 i + 1 where x - e_i may

  VOXHERD_FUNCTION static std::size_t plane(std::uint32_t cell, int numbers, int n) {
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

VOXHERD_FUNCTION inline void unpack_offset(std::int32_t packed, int (&e)[3]) {
  e[0] = static_cast<std::int8_t>(packed & 0xff);
  e[1] = static_cast<std::int8_t>((packed >> 8) & 0xff);
  e[2] = static_cast<std::int8_t>((packed >> 16) & 0xff);
}

VOXHERD_FUNCTION inline std::int32_t pack_offset(const int (&e)[3]) {
  return (e[0] & 0xff) | (e[1] & 0xff) << 8 | (e[2] & 0xff) << 16;
}

}  // namespace voxherd::connect
