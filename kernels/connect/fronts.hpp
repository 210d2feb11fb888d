#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/connect/block_graph.hpp"
#include "kernels/connect/lattice.hpp"

namespace voxherd::connect {

/// Fronts while they are solved for. Blocks are visited in rounds. A block sees others as they were before the round,
/// so that the order within a round does not matter and results are reproducible. For this each block has two slots of
/// values; its `state` gives the valid slot and the round in which it was written. A visit in round r writes the other
/// slot; a reader in round r takes the older slot, whether or not the visit has happened.
struct front_view {
  std::uint32_t fronts, blocks;
  float* value;          ///< (fronts, 2, blocks + 1, 64); the last block is for missing neighbours
  std::uint32_t* state;  ///< (fronts, blocks): 2 * round of the last visit + slot
  float*
      trigger[2];   ///< (fronts, blocks), by parity of the round: the value that woke the block, `unreached` if asleep
  float* least[3];  ///< (fronts), by round modulo 3: smallest trigger
  std::uint32_t* choice;  ///< (fronts, cells): what second order takes from first order; null in first order
  bool in_place;          ///< one slot and one list of triggers: visits see results of the same round

  VOXHERD_FUNCTION std::size_t values_of_front() const { return std::size_t{2} * (blocks + 1) * block_cells; }
  VOXHERD_FUNCTION float* triggers(std::uint32_t k, std::uint32_t round) const {
    assert(k < fronts);
    return trigger[in_place ? 0 : round % 2] + std::size_t{k} * blocks;
  }
  VOXHERD_FUNCTION std::uint32_t place(std::uint32_t block, std::uint32_t slot) const {
    assert(slot < 2 && block <= blocks);
    return (slot * (blocks + 1) + block) * block_cells;
  }
};

/// The slot with a block's values from before `round`.
VOXHERD_FUNCTION inline std::uint32_t slot_before(std::uint32_t state, std::uint32_t round) {
  return (state >> 1) == round ? 1 - (state & 1) : state & 1;
}

struct round_rules {
  std::uint32_t first_round;  ///< first round of these rules: a block's first visit since then wakes all its readers
  float tolerance;            ///< relative
  float cut;                  ///< blocks woken later than the earliest one by more than this wait
  float growth;               ///< increase of `cut` in each round in which the earliest stays
  int inner;                  ///< iterations per visit
};

}  // namespace voxherd::connect
