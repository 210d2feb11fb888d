#pragma once

#include "kernels/connect/directed_block.hpp"

namespace voxherd::connect {

/// First order along the directions of Selling's decomposition. Neighbours in other blocks are fixed during a visit:
/// only the smaller one of each pair is kept.
struct selling_scheme {
  static constexpr int order = 1, values = block_cells;
  const float* weight;  ///< the array of lattice_view

  template <class Team>
  class at : public directed_block<Team, first_pairs> {
    using block = directed_block<Team, first_pairs>;
    using block::net_, block::pairs_, block::weight_;

   public:
    using typename block::number, typename block::words, typename block::scratch;

    VOXHERD_FUNCTION at(const selling_scheme& scheme, const graph_view& graph, std::uint32_t number_of_block)
        : block(scheme.weight, graph, graph.pairs, number_of_block) {}

    VOXHERD_FUNCTION void begin(const Team& team, const std::uint32_t*) {
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) this->begin_chunk(team, chunk);
    }

    VOXHERD_INLINED void load(const Team& team, scratch& s, const float* others, const float* own) {
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) {
        this->load_chunk(team, s, chunk, others, own);
        team.each_cell(chunk, [&](auto cell) VOXHERD_INLINED_LAMBDA {
          // All loads before the first use, so that they overlap.
          number outside[first_pairs][2];
          VOXHERD_UNROLL
          for (int i = 0; i < first_pairs; ++i) {
            VOXHERD_UNROLL
            for (int side = 0; side < 2; ++side) {
              const words neighbour = pair_index(pairs_.get(chunk, i, cell), side);
              outside[i][side] =
                  team.fetch_if(neighbour >= block_cells, others,
                                team.find_base(s.base, neighbour / block_cells) + neighbour % block_cells,
                                s.base[0] + static_cast<words>(cell), unreached);
            }
          }
          VOXHERD_UNROLL
          for (int i = 0; i < first_pairs; ++i) {
            outside_.set(chunk, i, cell, lane::min(outside[i][0], outside[i][1]));
            VOXHERD_UNROLL
            for (int side = 0; side < 2; ++side) {
              const words neighbour = pair_index(pairs_.get(chunk, i, cell), side);
              inside_.set(s.value, chunk, 2 * i + side, cell,
                          VOXHERD_SELECT(neighbour < block_cells, static_cast<decltype(cell)>(neighbour), cell));
            }
          }
        });
      }
    }

    VOXHERD_INLINED number update(const Team& team, const scratch& s, int chunk, number old) const {
      selling_equation<number> e;
      VOXHERD_UNROLL
      for (int i = 0; i < selling_directions; ++i) {
        e.weight[i] = weight_.get(team, chunk, i);
        e.v[i] = lane::min(outside_.get(team, chunk, i),
                           lane::min(inside_.read(s.value, chunk, 2 * i), inside_.read(s.value, chunk, 2 * i + 1)));
      }
      number u = old;
      const auto fresh = old >= unreached;
      if (team.any_lane(fresh)) u = lane::select(fresh, e.bound(), old);
      u = e.newton(u);
      return net_.is_there() ? net_.lowered(team, s.value, chunk, u) : u;
    }

   private:
    typename Team::template cell_numbers<selling_directions> outside_;
    typename Team::template cell_places<2 * selling_directions> inside_;
  };
};

}  // namespace voxherd::connect
