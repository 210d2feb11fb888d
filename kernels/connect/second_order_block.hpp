#pragma once

#include "kernels/connect/directed_block.hpp"

namespace voxherd::connect {

/// What second order takes from the first-order solution, for one cell: 3 bits per direction.
namespace choice {
inline constexpr std::uint32_t used = 1, backward = 2, second = 4, bits = 7;  ///< backward: x - e_i
inline constexpr int width = 3;
inline constexpr std::uint32_t fixed = 1u << 31;  ///< a start: keeps its value
}  // namespace choice

/// Second order: u_i becomes u_i + (u_i - u_2i) / 3 and its weight 9/4 weight_i where x, x + e_i and x + 2 e_i increase
/// in turn (Mirebeau 2019). The neighbours are chosen from the first-order solution and stay fixed: the remaining
/// system depends on nothing later than itself, so that the iteration ends.
struct second_order_scheme {
  static constexpr int order = 2, values = block_cells;
  const float* weight;  ///< the array of lattice_view

  template <class Team>
  class at : public directed_block<Team, second_pairs> {
    using block = directed_block<Team, second_pairs>;
    using block::net_, block::pairs_, block::weight_;

   public:
    using typename block::number, typename block::words, typename block::scratch;

    VOXHERD_FUNCTION at(const second_order_scheme& scheme, const graph_view& graph, std::uint32_t number_of_block)
        : block(scheme.weight, graph, second_pairs, number_of_block), block_(number_of_block) {}

    VOXHERD_FUNCTION void begin(const Team& team, const std::uint32_t* choices) {
      choices_ = choices + std::size_t{block_} * block_cells;
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) {
        this->begin_chunk(team, chunk);
        VOXHERD_UNROLL
        for (int i = 0; i < selling_directions; ++i)
          step_.put(team, chunk, i, selling_equation<number>::step(weight_.get(team, chunk, i)));
      }
    }

    VOXHERD_INLINED void load(const Team& team, scratch& s, const float* others, const float* own) {
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) {
        this->load_chunk(team, s, chunk, others, own);
        team.each_cell(chunk, [&](auto cell) VOXHERD_INLINED_LAMBDA {
          const words chosen = team.pick(choices_, 0, 0, cell);
          fixed_.set(chunk, 0, cell, VOXHERD_SELECT((chosen & choice::fixed) != 0, number(1.0f), number(0.0f)));
          // A neighbour within the block is given by its index, one elsewhere by its value, and a missing one by a huge
          // value.
          VOXHERD_UNROLL
          for (int m = 0; m < 2 * selling_directions; ++m) {
            const words c = chosen >> (choice::width * (m / 2)) & choice::bits;
            const auto is = (c & (m % 2 == 0 ? choice::used : choice::second)) != 0;
            const words pair = pairs_.get(chunk, m % 2 * first_pairs + m / 2, cell);
            const words neighbour =
                VOXHERD_SELECT((c & choice::backward) == 0, pair_index(pair, 0), pair_index(pair, 1));
            const auto inside = is && neighbour < block_cells;
            outside_.set(chunk, m, cell,
                         team.fetch_if(is && !inside, others,
                                       team.find_base(s.base, neighbour / block_cells) + neighbour % block_cells,
                                       s.base[0] + static_cast<words>(cell),
                                       VOXHERD_SELECT(inside, number(-1.0f), number(unreached))));
            inside_.set(s.value, chunk, m, cell, VOXHERD_SELECT(inside, static_cast<decltype(cell)>(neighbour), cell));
          }
        });
      }
    }

    VOXHERD_INLINED number update(const Team& team, const scratch& s, int chunk, number old) const {
      selling_equation<number> e;
      number bound = unreached;
      VOXHERD_UNROLL
      for (int i = 0; i < selling_directions; ++i) {
        const number near = neighbour(team, s, chunk, 2 * i), far = neighbour(team, s, chunk, 2 * i + 1);
        const auto second = far < near;
        const number w = weight_.get(team, chunk, i), step = step_.get(team, chunk, i);
        e.weight[i] = lane::select(second, 2.25f * w, w);
        e.v[i] = lane::select(second, near + (near - far) * (1.0f / 3.0f), near);
        bound = lane::min(bound, e.v[i] + lane::select(second, step * (2.0f / 3.0f), step));
      }
      number u = e.newton(lane::min(e.newton_from_anywhere(lane::min(old, bound)), bound));
      if (net_.is_there()) u = net_.lowered(team, s.value, chunk, u);
      const auto keeps = fixed_.get(team, chunk, 0) > 0.5f;
      return lane::select(keeps, old, lane::min(u, number(unreached)));
    }

   private:
    VOXHERD_FUNCTION number neighbour(const Team& team, const scratch& s, int chunk, int m) const {
      const number outside = outside_.get(team, chunk, m);
      return lane::select(outside < 0.0f, inside_.read(s.value, chunk, m), outside);
    }

    std::uint32_t block_;
    const std::uint32_t* choices_ = nullptr;
    typename Team::template cell_numbers<2 * selling_directions> outside_;
    typename Team::template cell_places<2 * selling_directions> inside_;
    typename Team::template cell_numbers<selling_directions> step_;
    typename Team::template cell_numbers<1> fixed_;
  };
};

}  // namespace voxherd::connect
