#pragma once

#include "kernels/eikonal/block_visit.hpp"
#include "kernels/eikonal/selling_update.hpp"

namespace voxherd::eikonal {

/// First order along the directions of Selling's decomposition. Neighbours in other blocks are held still during a
/// visit: the smaller of them is all that is kept of a pair.
struct selling_scheme {
  static constexpr int order = 1, values = block_cells;
  const float* weight;  ///< lattice_view's

  template <class Team>
  class at {
   public:
    using number = typename Team::number;
    using scratch = visit_scratch<values>;

    VOXHERD_FUNCTION at(const selling_scheme& scheme, const graph_view& graph, std::uint32_t block)
        : graph_(graph),
          weight_(scheme.weight + std::size_t{block} * selling_directions * block_cells),
          neighbours_(graph.neighbour + std::size_t{block} * static_cast<unsigned>(graph.neighbours) * block_cells),
          block_(block) {}

    template <class Place>
    VOXHERD_FUNCTION void find(const Team& team, scratch& s, const Place& place) const {
      const std::uint32_t first = graph_.read_first[block_];
      team.share(static_cast<int>(graph_.read_first[block_ + 1] - first),
                 [&](int n) { s.base[n] = place(graph_.read_block[first + static_cast<std::uint32_t>(n)]); });
    }

    VOXHERD_FUNCTION void load(const Team& team, scratch& s, const float* values_, const float* own,
                               const std::uint32_t*) {
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) {
        team.store(s.value, chunk, team.fetch_cells(own, chunk));
        weight_.load(team, chunk);
        VOXHERD_UNROLL
        for (int i = 0; i < selling_directions; ++i) {
          const std::uint16_t* pair = neighbours_ + 2 * i * block_cells;
          team.each_cell(chunk, [&](int cell) {
            const unsigned there[2] = {pair[cell], pair[block_cells + cell]};
            float outside = unreached;
            int inside[2];
            VOXHERD_UNROLL
            for (int side = 0; side < 2; ++side) {
              const unsigned number_of_block = there[side] / block_cells;
              inside[side] = number_of_block == 0 ? static_cast<int>(there[side]) : cell;
              if (number_of_block != 0)
                outside = lane::min(outside, team.fetch(values_ + s.base[number_of_block] + there[side] % block_cells));
            }
            outside_.set(team, chunk, i, cell, outside);
            inside_.set(team, chunk, 2 * i, cell, inside[0]);
            inside_.set(team, chunk, 2 * i + 1, cell, inside[1]);
          });
        }
      }
    }

    VOXHERD_FUNCTION number value(const Team& team, const scratch& s, int chunk) const {
      return team.load(s.value, chunk);
    }
    VOXHERD_FUNCTION void put(const Team& team, scratch& s, int chunk, number u) const {
      team.store(s.value, chunk, u);
    }

    VOXHERD_FUNCTION number update(const Team& team, const scratch& s, int chunk, number old) const {
      selling_equation<number> e;
      VOXHERD_UNROLL
      for (int i = 0; i < selling_directions; ++i) {
        e.weight[i] = weight_.get(team, chunk, i);
        e.v[i] = lane::min(outside_.get(team, chunk, i), lane::min(inside_.read(team, s.value, chunk, 2 * i),
                                                                   inside_.read(team, s.value, chunk, 2 * i + 1)));
      }
      number u = old;
      const auto fresh = old >= unreached;
      if (team.any(fresh)) u = lane::select(fresh, e.bound(), old);
      return e.newton(e.newton(u));
    }

   private:
    graph_view graph_;
    typename Team::template fixed_numbers<selling_directions> weight_;
    const std::uint16_t* neighbours_;
    std::uint32_t block_;
    typename Team::template cell_numbers<selling_directions> outside_;
    typename Team::template cell_places<2 * selling_directions> inside_;
  };
};

}  // namespace voxherd::eikonal
