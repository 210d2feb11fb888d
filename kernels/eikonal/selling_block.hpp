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
        : reads_(graph.read_block + std::size_t{block} * graph.read_stride),
          read_count_(static_cast<int>(graph.read_stride)),
          weight_(scheme.weight + std::size_t{block} * selling_directions * block_cells),
          pairs_(graph.neighbour + std::size_t{block} * static_cast<unsigned>(graph.pairs) * block_cells) {}

    VOXHERD_FUNCTION void begin(const Team& team, const std::uint32_t*) {
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) {
        pairs_.load(team, chunk);
        weight_.load(team, chunk);
      }
    }

    template <class Place>
    VOXHERD_FUNCTION void find(const Team& team, scratch& s, const Place& place) const {
      team.share(read_count_, [&](int n) { s.base[n] = place(reads_[n]); });
    }

    VOXHERD_FUNCTION void load(const Team& team, scratch& s, const float* values_, const float* own) {
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) {
        team.store(s.value, chunk, team.fetch_cells(own, chunk));
        VOXHERD_UNROLL
        for (int i = 0; i < selling_directions; ++i)
          team.each_cell(chunk, [&](int cell) {
            const std::uint32_t pair = pairs_.get(chunk, i, cell);
            float outside = unreached;
            int inside[2] = {cell, cell};
            VOXHERD_UNROLL
            for (int side = 0; side < 2; ++side) {
              const std::uint32_t there = place_of(pair, side);
              if (there < block_cells)
                inside[side] = static_cast<int>(there);
              else
                outside = lane::min(outside, team.fetch(values_ + s.base[there / block_cells] + there % block_cells));
            }
            outside_.set(chunk, i, cell, outside);
            inside_.set(chunk, 2 * i, cell, inside[0]);
            inside_.set(chunk, 2 * i + 1, cell, inside[1]);
          });
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
        e.v[i] = lane::min(outside_.get(team, chunk, i),
                           lane::min(inside_.read(s.value, chunk, 2 * i), inside_.read(s.value, chunk, 2 * i + 1)));
      }
      number u = old;
      const auto fresh = old >= unreached;
      if (team.any_lane(fresh)) u = lane::select(fresh, e.bound(), old);
      return e.newton(e.newton(u));
    }

   private:
    const std::uint32_t* reads_;
    int read_count_;
    typename Team::template fixed_numbers<selling_directions> weight_;
    typename Team::template fixed_words<first_pairs> pairs_;
    typename Team::template cell_numbers<selling_directions> outside_;
    typename Team::template cell_places<2 * selling_directions> inside_;
  };
};

}  // namespace voxherd::eikonal
