#pragma once

#include "kernels/connect/block_visit.hpp"

namespace voxherd::connect {

/// For cells that no front can enter or leave along Selling's directions because of the mask (net_cells.hpp): straight
/// steps to the six face neighbours, u <= v + sqrt(e . S^-1 e). Each is the cost of a path, so an upper bound;
/// everything connected by faces is reached.
template <class Team>
class face_net {
 public:
  using number = typename Team::number;

  VOXHERD_FUNCTION face_net(const graph_view& graph, std::uint32_t block) : graph_(graph), net_(graph.net_of[block]) {}

  VOXHERD_FUNCTION bool is_there() const { return net_ >= 0; }

  /// Loads values of other blocks, which stay fixed.
  VOXHERD_FUNCTION void load(const Team& team, int chunk, const float* values, const std::uint32_t* base) {
    team.each_cell(chunk, [&](int cell) {
      float least = unreached;
      VOXHERD_UNROLL_BY(1)
      for (int d = 0; d < 3; ++d)
        for (int side = 0; side < 2; ++side) {
          const std::uint32_t neighbour_index =
              pair_index(graph_.net_pair[first() + static_cast<unsigned>(d * block_cells + cell)], side);
          if (neighbour_index < block_cells) continue;
          least = lane::min(least,
                            team.fetch(values + base[neighbour_index / block_cells] + neighbour_index % block_cells) +
                                graph_.net_cost[first() + static_cast<unsigned>(d * block_cells + cell)]);
        }
      outside_.set(chunk, 0, cell, least);
    });
  }

  VOXHERD_FUNCTION number lowered(const Team& team, const float* own, int chunk, number u) const {
    u = lane::min(u, outside_.get(team, chunk, 0));
    VOXHERD_UNROLL_BY(1)
    for (int d = 0; d < 3; ++d)
      u = lane::min(u, team.lesser_inside(own, graph_.net_pair + first() + d * block_cells, chunk) +
                           team.load(graph_.net_cost + first() + d * block_cells, chunk));
    return u;
  }

 private:
  // Recomputed when needed: few blocks have a net, and a register would be taken from all.
  VOXHERD_FUNCTION std::size_t first() const { return std::size_t{3} * block_cells * static_cast<unsigned>(net_); }

  const graph_view& graph_;
  std::int32_t net_;
  typename Team::template cell_numbers<1> outside_;
};

}  // namespace voxherd::connect
