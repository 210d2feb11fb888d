#pragma once

#include <cstdint>
#include <vector>

#include "kernels/eikonal/lattice_builder.hpp"
#include "kernels/eikonal/settings.hpp"

namespace voxherd::eikonal {

/// Who reads a block's values: told when they change.
struct dependent {
  std::uint64_t cells[2];  ///< which of them: in solving to first order, to second order
  std::uint32_t block;
  std::uint32_t unused;
};

/// Neighbours of a cell: 2 i and 2 i + 1 are x + e_i and x - e_i, 12 + 2 i and 13 + 2 i those twice as far.
inline constexpr int first_neighbours = 12, second_neighbours = 24;

/// Blocks that a block may read, itself included: a neighbour's place is its number among them and its cell there.
inline constexpr std::uint32_t most_read = 255;

/// How blocks hang together, as kernels read it. A neighbour is 64 * (number among the blocks read) + its cell in that
/// block; a neighbour that there is not is the cell itself (number 0 is the block itself), which is never upwind.
struct graph_view {
  std::uint32_t blocks;
  int neighbours;                   ///< 0, 12 or 24 a cell
  const std::uint16_t* neighbour;   ///< (blocks, neighbours, 64)
  const std::uint32_t* read_first;  ///< blocks + 1: block b reads read_block[read_first[b]] to read_first[b + 1] - 1
  const std::uint32_t* read_block;
  const std::uint32_t* told_first;  ///< blocks + 1
  const dependent* told;
  const std::uint32_t* near_block;  ///< (blocks, 27): x fastest, the block itself in the middle; `blocks` for none
  const std::uint32_t*
      near_closed;  ///< 1 a cell: bit dx+1 + 3 (dy+1) + 9 (dz+1) for a neighbour in the mask that may not be reached
};

struct block_graph {
  std::uint32_t blocks = 0;
  int neighbours = 0;
  std::vector<std::uint16_t> neighbour;
  std::vector<std::uint32_t> read_first, read_block, told_first, near_block, near_closed;
  std::vector<dependent> told;
  std::uint64_t dropped = 0;  ///< neighbours left out because a block would read more than `most_read` others

  graph_view view() const;
};

block_graph build_graph(const lattice& l, const solver_settings& settings, int threads);

}  // namespace voxherd::eikonal
