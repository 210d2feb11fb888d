#pragma once

#include "kernels/connect/block_visit.hpp"

namespace voxherd::connect {

/// Schemes on the nearest neighbours: the block and one voxel around it form a cube of 6 x 6 x 6. `Local` computes a
/// cell from the cells around it: local(S, neighbours, old).
template <class Local>
struct cube_scheme {
  static constexpr int order = 1, values = cube_cells;
  const float* tensor;  ///< the array of lattice_view

  template <class Team>
  class at {
   public:
    using number = typename Team::number;
    using scratch = visit_scratch<values>;

    VOXHERD_FUNCTION at(const cube_scheme& scheme, const graph_view& graph, std::uint32_t block)
        : tensor_(scheme.tensor + std::size_t{block} * 6 * block_cells),
          near_(graph.near_block + std::size_t{block} * 27),
          closed_(graph.near_closed + std::size_t{block} * block_cells) {}

    VOXHERD_FUNCTION void begin(const Team& team, const std::uint32_t*) {
      walled_ = false;
      VOXHERD_UNROLL
      for (int chunk = 0; chunk < Team::chunks; ++chunk) walled_ = team.any_set(closed_, chunk) || walled_;
    }

    template <class Place>
    VOXHERD_FUNCTION void find(const Team& team, scratch& s, const Place& place) const {
      team.share(27, [&](int n) { s.base[n] = place(near_[n]); });
    }

    VOXHERD_FUNCTION void load(const Team& team, scratch& s, const float* values_, const float*) {
      team.share(cube_cells, [&](int i) {
        const int x = i % cube_side - 1, y = i / cube_side % cube_side - 1, z = i / cube_side / cube_side - 1;
        const int block = side(x) + 3 * side(y) + 9 * side(z);
        s.value[i] = team.fetch(values_ + s.base[block] + (x & 3) + 4 * (y & 3) + 16 * (z & 3));
      });
    }

    VOXHERD_FUNCTION number value(const Team& team, const scratch& s, int chunk) const {
      return team.read_cube(s.value, chunk, 0);
    }
    VOXHERD_FUNCTION void put(const Team& team, scratch& s, int chunk, number u) const {
      team.write_cube(s.value, chunk, u);
    }

    VOXHERD_FUNCTION number update(const Team& team, const scratch& s, int chunk, number old) const {
      number tensor[6];
      VOXHERD_UNROLL
      for (int n = 0; n < 6; ++n) tensor[n] = team.load(tensor_ + n * block_cells, chunk);
      const auto neighbour = [&](int dx, int dy, int dz) -> number {
        const number u = team.read_cube(s.value, chunk, cube_step(dx, dy, dz));
        if (!walled_) return u;
        return team.unless_set(closed_, chunk, dx + 1 + 3 * (dy + 1) + 9 * (dz + 1), u, unreached);
      };
      // A cell outside the mask has no tensor and stays unreached.
      return lane::select(tensor[0] > 0.0f, Local{}(tensor, neighbour, old), old);
    }

   private:
    VOXHERD_FUNCTION static int side(int place) { return place < 0 ? 0 : place >= block_side ? 2 : 1; }

    const float* tensor_;
    const std::uint32_t* near_;
    const std::uint32_t* closed_;
    bool walled_ = false;  ///< whether some neighbour in the mask must not be reached
  };
};

}  // namespace voxherd::connect
