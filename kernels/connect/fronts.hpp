#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/connect/block_graph.hpp"
#include "kernels/connect/unreached.hpp"

namespace voxherd::connect {

/// Fronts on their way. Blocks are visited in rounds; a block sees others as they were before the round, so that the
/// order within a round does not matter and the bits repeat. For that each block has two slots of values, and its
/// `state` says which one holds them, and since which round: a visit in round r writes the other slot, and who reads
/// the state in round r takes the former one, whether the visit has been or not.
struct front_view {
  std::uint32_t fronts, blocks;
  float* value;           ///< (fronts, 2, blocks + 1, 64); the last block is for neighbours that there are not
  std::uint32_t* state;   ///< (fronts, blocks): 2 * round of the last visit + slot
  float* trigger[2];      ///< (fronts, blocks), by parity of the round: what woke the block, `unreached` for asleep
  float* least[3];        ///< (fronts), by round modulo 3: smallest trigger
  std::uint32_t* choice;  ///< (fronts, cells): what second order takes from first order; null before
  bool in_place;          ///< one slot, one list of triggers: visits see what others of the round have done

  VOXHERD_FUNCTION std::size_t values_of_front() const { return std::size_t{2} * (blocks + 1) * block_cells; }
  VOXHERD_FUNCTION float* triggers(std::uint32_t k, std::uint32_t round) const {
    return trigger[in_place ? 0 : round % 2] + std::size_t{k} * blocks;
  }
  VOXHERD_FUNCTION std::uint32_t place(std::uint32_t block, std::uint32_t slot) const {
    return (slot * (blocks + 1) + block) * block_cells;
  }
};

/// The slot that holds what a block was before `round`.
VOXHERD_FUNCTION inline std::uint32_t slot_before(std::uint32_t state, std::uint32_t round) {
  return (state >> 1) == round ? 1 - (state & 1) : state & 1;
}

struct round_rules {
  std::uint32_t first_round;  ///< of these rules: a block's first visit since then wakes all who read it
  float tolerance;            ///< relative
  float cut;                  ///< blocks woken later than the earliest by more wait
  float growth;               ///< of what they wait for, in each round, where the earliest stays
  int inner;                  ///< iterations in a block
};

}  // namespace voxherd::connect
