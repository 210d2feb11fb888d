#pragma once

#include "kernels/connect/block_visit.hpp"
#include "kernels/connect/second_order_block.hpp"

/// Steps before, between and after the rounds; callables for one index each.
namespace voxherd::connect {

/// Sets all cells to unreached and all blocks to asleep. One index per block of a front, including the block of missing
/// neighbours.
struct front_clearer {
  front_view front;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const std::uint32_t all = front.blocks + 1, k = i / all, block = i % all;
    float* values = front.value + k * front.values_of_front();
    for (std::uint32_t slot = 0; slot < 2; ++slot)
      for (int c = 0; c < block_cells; ++c) values[front.place(block, slot) + static_cast<unsigned>(c)] = unreached;
    if (block == front.blocks) {
      for (float* least : front.least) least[k] = unreached;
      return;
    }
    front.state[std::size_t{k} * front.blocks + block] = 0;
    for (float* trigger : front.trigger) trigger[std::size_t{k} * front.blocks + block] = unreached;
  }
};

/// A start in device memory.
struct start_cell {
  std::uint32_t front, cell;
  float arrival;
};

/// Inserts a start. A voxel with several starts gets the smallest arrival.
template <class Team>
struct front_starter {
  Team team;
  front_view front;
  const start_cell* start;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const start_cell s = start[i];
    team.lower(
        front.value + s.front * front.values_of_front() + front.place(s.cell / block_cells, 0) + s.cell % block_cells,
        s.arrival);
  }
};

/// Wakes a start's block and those that read it, in `round`.
template <class Team>
struct front_waker {
  Team team;
  front_view front;
  graph_view graph;
  const start_cell* start;
  std::uint32_t round;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const start_cell s = start[i];
    const std::uint32_t block = s.cell / block_cells;
    float* trigger = front.triggers(s.front, round);
    team.lower(trigger + block, s.arrival);
    for (std::uint32_t n = graph.first_dependent[block]; n < graph.first_dependent[block + 1]; ++n)
      if ((graph.dependents[n].cells[0] >> (s.cell % block_cells) & 1) != 0)
        team.lower(trigger + graph.dependents[n].block, s.arrival);
    team.lower(front.least[round % 3] + s.front, s.arrival);
  }
};

/// The values of a block while no team is working on the front.
VOXHERD_FUNCTION inline const float* resting(const front_view& f, std::uint32_t k, std::uint32_t block) {
  return f.value + k * f.values_of_front() + f.place(block, f.state[std::size_t{k} * f.blocks + block] & 1);
}

/// Chooses the second-order differences of each cell. One index per cell of a front.
struct second_order_chooser {
  front_view front;
  graph_view graph;
  std::uint32_t first_front;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const std::uint32_t cells = front.blocks * block_cells, k = first_front + i / cells, cell = i % cells;
    const std::uint32_t block = cell / block_cells;
    const float own = resting(front, k, block)[cell % block_cells];
    std::uint32_t chosen = 0;
    for (int d = 0; d < selling_directions && own < unreached; ++d) {
      const float forward = at(k, block, cell, d, 0), backward = at(k, block, cell, d, 1);
      const bool is_backward = backward < forward;
      const float near = is_backward ? backward : forward;
      if (!(near < own)) continue;
      const float far = at(k, block, cell, first_pairs + d, is_backward ? 1 : 0);
      chosen |= (choice::used | (is_backward ? choice::backward : 0u) | (far < near ? choice::second : 0u))
                << (choice::width * d);
    }
    front.choice[std::size_t{k} * cells + cell] = chosen;
  }

 private:
  VOXHERD_FUNCTION float at(std::uint32_t k, std::uint32_t block, std::uint32_t cell, int pair, int side) const {
    const std::uint32_t neighbour_index =
        pair_index(graph.neighbour[(std::size_t{block} * second_pairs + static_cast<unsigned>(pair)) * block_cells +
                                   cell % block_cells],
                   side);
    if (neighbour_index == cell % block_cells) return unreached;  // missing neighbour
    return resting(front, k,
                   graph.read_block[std::size_t{block} * graph.read_stride +
                                    neighbour_index / block_cells])[neighbour_index % block_cells];
  }
};

struct start_fixer {
  front_view front;
  const start_cell* start;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    front.choice[std::size_t{start[i].front} * front.blocks * block_cells + start[i].cell] = choice::fixed;
  }
};

/// Copies the final values to one array ordered by cell. One index per cell of a front.
struct arrival_gatherer {
  front_view front;
  float* arrival;  ///< (fronts, cells)

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const std::uint32_t cells = front.blocks * block_cells, k = i / cells, cell = i % cells;
    arrival[i] = resting(front, k, cell / block_cells)[cell % block_cells];
  }
};

}  // namespace voxherd::connect
