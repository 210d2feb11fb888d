#pragma once

#include "kernels/eikonal/block_visit.hpp"
#include "kernels/eikonal/selling_update.hpp"

namespace voxherd::eikonal {

/// What second order takes from the solution of first order, for one cell: 3 bits a direction.
namespace choice {
inline constexpr std::uint32_t used = 1, backward = 2, second = 4, bits = 7;  ///< backward: x - e_i
inline constexpr int width = 3;
inline constexpr std::uint32_t fixed = 1u << 31;  ///< a start: keeps its value
}  // namespace choice

/// Second order: u_i becomes u_i + (u_i - u_2i) / 3 and weight_i 9/4 of it, where x, x + e_i and x + 2 e_i rise one
/// after the other (Mirebeau 2019). Which neighbours those are is taken from the solution of first order and stays:
/// what is left depends on nothing later than itself, so that iterating ends.
struct second_order_scheme {
  static constexpr int order = 2, values = block_cells;
  const float* weight;  ///< lattice_view's

  template <class Team>
  class at {
   public:
    using number = typename Team::number;
    using scratch = visit_scratch<values>;

    VOXHERD_FUNCTION at(const second_order_scheme& scheme, const graph_view& graph, std::uint32_t block)
        : block_(block),
          reads_(graph.read_block + std::size_t{block} * graph.read_stride),
          read_count_(static_cast<int>(graph.read_stride)),
          weight_(scheme.weight + std::size_t{block} * selling_directions * block_cells),
          pairs_(graph.neighbour + std::size_t{block} * second_pairs * block_cells) {}

    VOXHERD_FUNCTION void begin(const Team& team, const std::uint32_t* choices) {
      choices_ = choices + std::size_t{block_} * block_cells;
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
        team.each_cell(chunk, [&](int cell) {
          const std::uint32_t chosen = choices_[cell];
          fixed_.set(chunk, 0, cell, (chosen & choice::fixed) != 0 ? 1.0f : 0.0f);
          VOXHERD_UNROLL
          for (int i = 0; i < selling_directions; ++i) {
            const std::uint32_t c = chosen >> (choice::width * i) & choice::bits;
            const int side = (c & choice::backward) != 0 ? 1 : 0;
            take(team, s, values_, (c & choice::used) != 0, i, side, chunk, 2 * i, cell);
            take(team, s, values_, (c & choice::second) != 0, first_pairs + i, side, chunk, 2 * i + 1, cell);
          }
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
        const number near = neighbour(team, s, chunk, 2 * i), far = neighbour(team, s, chunk, 2 * i + 1);
        const auto second = far < near;
        const number w = weight_.get(team, chunk, i);
        e.weight[i] = lane::select(second, 2.25f * w, w);
        e.v[i] = lane::select(second, near + (near - far) * (1.0f / 3.0f), near);
      }
      number u = e.bound();
      for (int n = 0; n < 4; ++n) u = e.newton(u);
      const auto keeps = fixed_.get(team, chunk, 0) > 0.5f;
      return lane::select(keeps, old, lane::min(u, number(unreached)));
    }

   private:
    /// A neighbour in the block by its place, one elsewhere by its value, none by a value beyond all others.
    VOXHERD_FUNCTION void take(const Team& team, const scratch& s, const float* values_, bool is, int n, int side,
                               int chunk, int m, int cell) {
      const std::uint32_t there = place_of(pairs_.get(chunk, n, cell), side), number_of_block = there / block_cells;
      const bool inside = is && number_of_block == 0;
      inside_.set(chunk, m, cell, inside ? static_cast<int>(there) : cell);
      outside_.set(chunk, m, cell,
                   inside ? -1.0f
                   : !is  ? unreached
                          : team.fetch(values_ + s.base[number_of_block] + there % block_cells));
    }

    VOXHERD_FUNCTION number neighbour(const Team& team, const scratch& s, int chunk, int m) const {
      const number outside = outside_.get(team, chunk, m);
      return lane::select(outside < 0.0f, inside_.read(s.value, chunk, m), outside);
    }

    std::uint32_t block_;
    const std::uint32_t* reads_;
    int read_count_;
    const std::uint32_t* choices_ = nullptr;
    typename Team::template fixed_numbers<selling_directions> weight_;
    typename Team::template fixed_words<second_pairs> pairs_;
    typename Team::template cell_numbers<2 * selling_directions> outside_;
    typename Team::template cell_places<2 * selling_directions> inside_;
    typename Team::template cell_numbers<1> fixed_;
  };
};

}  // namespace voxherd::eikonal
