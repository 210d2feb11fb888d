#pragma once

#include "kernels/eikonal/fronts.hpp"
#include "kernels/portable/lane_math.hpp"

namespace voxherd::eikonal {

/// What a team has for itself during a visit.
template <int Values>
struct visit_scratch {
  alignas(64) float value[Values];    ///< the block's own, and for some schemes those around it
  std::uint32_t base[most_read + 1];  ///< where the blocks read have their values
};

/// A visit to one block of one front: iterates it with what is around held still, writes it, and wakes those who read
/// what has changed. `Team` is a warp or a CPU thread, `Scheme` says how a cell follows from its neighbours.
template <class Team, class Scheme>
struct block_visit {
  using number = typename Team::number;
  using scratch = visit_scratch<Scheme::values>;

  graph_view graph;
  front_view front;
  round_rules rules;
  Scheme scheme;

  VOXHERD_FUNCTION void operator()(const Team& team, scratch& s, std::uint32_t k, std::uint32_t block,
                                   std::uint32_t round) const {
    float* values = front.value + k * front.values_of_front();
    std::uint32_t* states = front.state + std::size_t{k} * front.blocks;
    const std::uint32_t slot = rules.in_place ? 0 : states[block] & 1;
    const float* before = values + front.place(block, slot);
    typename Scheme::template at<Team> here(scheme, graph, block);
    here.find(team, s, [&](std::uint32_t other) {
      return front.place(other,
                         rules.in_place || other == front.blocks ? 0 : slot_before(team.fetch(states + other), round));
    });
    team.sync();
    here.load(team, s, values, before,
              front.choice ? front.choice + std::size_t{k} * front.blocks * block_cells : nullptr);
    team.sync();

    bool settled = false;
    for (int n = 0; n < rules.inner && !settled; ++n) {
      bool changed = false;
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) {
        const number old = here.value(team, s, chunk), now = here.update(team, s, chunk, old);
        changed = team.any(differs(now, old)) || changed;
        team.sync();
        here.put(team, s, chunk, now);
        team.sync();
      }
      settled = !changed;
    }
    finish(team, s, here, k, block, round, before, values + front.place(block, rules.in_place ? 0 : 1 - slot), settled);
    if (!rules.in_place) team.once([&] { team.put(states + block, 2 * round + 1 - slot); });
  }

 private:
  VOXHERD_FUNCTION auto differs(number now, number then) const { return lane::abs(now - then) > rules.tolerance * now; }

  template <class At>
  VOXHERD_FUNCTION void finish(const Team& team, scratch& s, const At& here, std::uint32_t k, std::uint32_t block,
                               std::uint32_t round, const float* before, float* after, bool settled) const {
    std::uint64_t changed = 0;
    number least = unreached;
    VOXHERD_UNROLL
    for (int chunk = 0; chunk < Team::chunks; ++chunk) {
      const number then = team.fetch_cells(before, chunk), now = here.value(team, s, chunk);
      const auto differ = differs(now, then);
      changed |= team.bits(differ, chunk);
      least = lane::min(least, lane::select(differ, now, number(unreached)));
      team.store(after, chunk, now);
    }
    if (changed == 0) return;
    const float when = team.least(least);
    const int order = Scheme::order - 1;
    float* next = front.trigger[(round + 1) % 2] + std::size_t{k} * front.blocks;
    const std::uint32_t first = graph.told_first[block];
    team.share(static_cast<int>(graph.told_first[block + 1] - first), [&](int n) {
      const dependent& d = graph.told[first + static_cast<std::uint32_t>(n)];
      if ((d.cells[order] & changed) != 0) team.lower(next + d.block, when);
    });
    team.once([&] {
      if (!settled) team.lower(next + block, when);
      team.lower(front.least[(round + 1) % 3] + k, when);
    });
  }
};

}  // namespace voxherd::eikonal
