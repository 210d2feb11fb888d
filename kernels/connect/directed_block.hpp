#pragma once

#include "kernels/connect/block_visit.hpp"
#include "kernels/connect/face_net.hpp"
#include "kernels/connect/selling_update.hpp"

namespace voxherd::connect {

/// Data of a block common to both orders: weights along Selling's directions, `Pairs` pairs of neighbours per cell, the
/// blocks read, and the block's net if it has one.
template <class Team, int Pairs>
class directed_block {
 public:
  using number = typename Team::number;
  using scratch = visit_scratch<block_cells>;

  /// `weight`: lattice_view's; `stride`: pairs per cell in the graph.
  VOXHERD_FUNCTION directed_block(const float* weight, const graph_view& graph, int stride, std::uint32_t block)
      : reads_(graph.read_block + std::size_t{block} * graph.read_stride),
        read_count_(static_cast<int>(graph.read_stride)),
        weight_(weight + std::size_t{block} * selling_directions * block_cells),
        pairs_(graph.neighbour + std::size_t{block} * static_cast<unsigned>(stride) * block_cells),
        net_(graph, block) {}

  template <class Place>
  VOXHERD_FUNCTION void find(const Team& team, scratch& s, const Place& place) const {
    team.share(read_count_, [&](int n) { s.base[n] = place(reads_[n]); });
  }

  VOXHERD_FUNCTION number value(const Team& team, const scratch& s, int chunk) const {
    return team.load(s.value, chunk);
  }
  VOXHERD_FUNCTION void put(const Team& team, scratch& s, int chunk, number u) const { team.store(s.value, chunk, u); }

 protected:
  VOXHERD_FUNCTION void begin_chunk(const Team& team, int chunk) {
    pairs_.load(team, chunk);
    weight_.load(team, chunk);
  }
  /// Loads the block's own values and those that its net reads from other blocks.
  VOXHERD_FUNCTION void load_chunk(const Team& team, scratch& s, int chunk, const float* values, const float* own) {
    team.store(s.value, chunk, team.fetch_cells(own, chunk));
    if (net_.is_there()) net_.load(team, chunk, values, s.base);
  }

  const std::uint32_t* reads_;
  int read_count_;
  typename Team::template fixed_numbers<selling_directions> weight_;
  typename Team::template fixed_words<Pairs> pairs_;
  face_net<Team> net_;
};

}  // namespace voxherd::connect
