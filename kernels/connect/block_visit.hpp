#pragma once

#include "kernels/connect/fronts.hpp"
#include "kernels/portable/lane_math.hpp"

namespace voxherd::connect {

/// Scratch memory of a team during a visit.
template <int Values>
struct visit_scratch {
  alignas(64) float value[Values];          ///< values of the block, and for some schemes of the cells around it
  std::uint32_t base[max_read_blocks + 1];  ///< offset of the values of each block read
  std::uint32_t exchange[4];
};

/// Visits one block of one front: iterates it with its surroundings fixed, writes it, and wakes the blocks that read
/// what has changed. `Team` is some warps or a CPU thread; `Scheme` computes a cell from its neighbours.
template <class Team, class Scheme>
struct block_visit {
  using number = typename Team::number;
  using scratch = visit_scratch<Scheme::values>;

  graph_view graph;
  front_view front;
  round_rules rules;
  Scheme scheme;

  /// Calls `wake(block, when)` for each block to visit again, from different members of the team.
  template <class Wake>
  VOXHERD_FUNCTION void operator()(const Team& team, scratch& s, std::uint32_t k, std::uint32_t block,
                                   std::uint32_t round, const Wake& wake) const {
    float* values = front.value + k * front.values_of_front();
    std::uint32_t* states = front.state + std::size_t{k} * front.blocks;
    // Request constant data first: only the computation waits for them.
    typename Scheme::template at<Team> here(scheme, graph, block);
    const std::uint32_t dependents[2] = {graph.first_dependent[block], graph.first_dependent[block + 1]};
    const std::uint32_t state = team.fetch(states + block), slot = state & 1;
    const bool first = (state >> 1) < rules.first_round;
    here.begin(team, front.choice ? front.choice + std::size_t{k} * front.blocks * block_cells : nullptr);
    here.find(team, s, [&](std::uint32_t other) {
      return front.place(other,
                         front.in_place || other == front.blocks ? 0 : slot_before(team.fetch(states + other), round));
    });
    const float* before = values + front.place(block, slot);
    team.sync();
    here.load(team, s, values, before);
    team.sync();
    number then[Team::chunks];
    VOXHERD_UNROLL
    for (int chunk = 0; chunk < Team::chunks; ++chunk) then[chunk] = here.value(team, s, chunk);

    bool settled = false;
    for (int n = 0; n < rules.inner && !settled; ++n) {
      settled = true;
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) {
        const number old = here.value(team, s, chunk), now = here.update(team, s, chunk, old);
        settled = !team.any(differs(now, old)) && settled;
        here.put(team, s, chunk, now);
        team.sync();
      }
    }
    const std::uint32_t after = front.in_place ? 0 : 1 - slot;
    finish(team, s, here, block, then, first, values + front.place(block, after), dependents, settled, wake);
    team.once([&] { team.put(states + block, 2 * round + after); });
  }

 private:
  VOXHERD_FUNCTION auto differs(number now, number then) const { return lane::abs(now - then) > rules.tolerance * now; }

  template <class At, class Wake>
  VOXHERD_FUNCTION void finish(const Team& team, scratch& s, const At& here, std::uint32_t block,
                               const number (&then)[Team::chunks], bool first, float* after,
                               const std::uint32_t (&dependents)[2], bool settled, const Wake& wake) const {
    std::uint64_t changed = 0;
    number lowest = unreached;
    VOXHERD_UNROLL
    for (int chunk = 0; chunk < Team::chunks; ++chunk) {
      const number now = here.value(team, s, chunk);
      const auto differ = first ? now < unreached : differs(now, then[chunk]);
      changed |= team.bits(differ, chunk);
      lowest = lane::min(lowest, lane::select(differ, now, number(unreached)));
      team.store(after, chunk, now);
    }
    if (front.in_place) team.publish();
    const float when = team.of_all(s.exchange, changed, lowest);
    if (changed == 0) return;
    team.share(static_cast<int>(dependents[1] - dependents[0]), [&](int n) {
      const dependent& d = graph.dependents[dependents[0] + static_cast<std::uint32_t>(n)];
      if ((d.cells[Scheme::order - 1] & changed) != 0) wake(d.block, when);
    });
    team.once([&] {
      if (!settled) wake(block, when);
    });
  }
};

}  // namespace voxherd::connect
