#pragma once

#include <cstdint>
#include <vector>

#include "kernels/connect/lattice_builder.hpp"
#include "kernels/connect/solver_types.hpp"

namespace voxherd::connect {

/// A block that reads another block's values, and is woken when they change.
struct dependent {
  std::uint64_t cells[2];  ///< bit masks of the cells read: in first order, in second order
  std::uint32_t block;
  std::uint32_t unused;
};

/// The indices of a pair: x + e_i in the lower half, x - e_i in the upper half.
template <class Words>
VOXHERD_FUNCTION inline Words pair_index(Words pair, int side) {
  assert(side == 0 || side == 1);
  return side == 0 ? pair & 0xffffu : pair >> 16;
}

/// Connections between blocks as kernels read them. A neighbour is 64 * (index of its block in the list of blocks read)
/// + its cell in that block. A missing neighbour is the cell itself (index 0 is the block itself), which is never
/// upwind.
struct graph_view {
  std::uint32_t blocks;
  int pairs;                             ///< 0, 6 or 12 per cell
  const std::uint32_t* neighbour;        ///< (blocks, pairs, 64)
  std::uint32_t read_stride;             ///< entries per list, padded with the block itself; a multiple of 32
  const std::uint32_t* read_block;       ///< (blocks, read_stride): the blocks that each block reads, itself first
  const std::int32_t* net_of;            ///< index of a block's net (directed_block.hpp), -1 for none
  const std::uint32_t* net_pair;         ///< (nets, 3, 64): neighbours across faces along x, y, z, indices as above
  const float* net_cost;                 ///< (nets, 3, 64): cost of a step to them
  const std::uint32_t* first_dependent;  ///< blocks + 1
  const dependent* dependents;
  // Only for schemes on the nearest neighbours:
  const std::uint32_t* near_block;  ///< (blocks, 27): x fastest, the block itself in the centre; `blocks` for none
  /// One word per cell: bit dx+1 + 3 (dy+1) + 9 (dz+1) for a neighbour in the mask that must not be reached.
  const std::uint32_t* near_closed;
};

struct block_graph {
  std::uint32_t blocks = 0;
  int pairs = 0;
  std::uint32_t read_stride = 0;
  std::vector<std::uint32_t> neighbour, read_block, first_dependent, near_block, near_closed;
  std::vector<std::int32_t> net_of;
  std::vector<std::uint32_t> net_pair;
  std::vector<float> net_cost;
  std::vector<dependent> dependents;
  std::uint64_t dropped = 0;  ///< neighbours left out because a block would read more than `max_read_blocks` others

  graph_view view() const;
};

/// Schemes on the nearest neighbours need only the mask of the lattice.
block_graph build_graph(const lattice& l, const solver_settings& settings, int threads);

/// Inputs common to all backends.
struct solver_parts {
  lattice where;
  block_graph graph;
  solver_settings settings;
  double axes_mm[9], origin_mm[3];
  float typical_cost;  ///< median cost of one voxel; 0 before there are tensors
};

/// Cells whose tensors tell the typical cost, and that cost from the traces of their tensors: the median of the voxel's
/// size divided by the speed averaged over directions.
std::vector<std::uint32_t> cost_sample(const lattice& l);
float typical_cost(const std::vector<float>& traces);

/// Second order only takes the order of neighbours from the first-order solution, which therefore need not be exact.
inline float solve_tolerance(int order, const solver_settings& s) {
  constexpr float for_choices = 1e-4f;
  return order < s.order && s.tolerance < for_choices ? for_choices : s.tolerance;
}

/// Rounds after which a front that still changes is stopped.
inline constexpr std::uint32_t max_rounds = 100000;

/// The cell of a start. Throws std::invalid_argument for a voxel outside the mask or an invalid arrival time.
std::uint32_t checked_cell(const lattice& l, const start& s);

}  // namespace voxherd::connect
