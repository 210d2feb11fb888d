#pragma once

#include "kernels/connect/block_visit.hpp"
#include "kernels/connect/lattice.hpp"
#include "kernels/portable/function.hpp"
#include "kernels/portable/lane_math.hpp"

namespace voxherd::connect {

/// The equation of one cell: f(u) = sum of weight_i max(0, u - v_i)^2 = 1 with v_i the smaller of the two neighbours
/// along direction i. f is convex, and increasing where it is positive: Newton's iterates from above stay above the
/// solution, so that each is an upper bound by itself, and the v_i need not be sorted.
template <class Number>
struct selling_equation {
  Number weight[selling_directions], v[selling_directions];

  /// Cost of a voxel along one direction only; 1e18, larger than any cost, for a direction without weight.
  VOXHERD_INLINED static Number step(Number w) { return lane::reciprocal(lane::sqrt(lane::max(w, Number(1e-36f)))); }

  /// For cells that no front has reached: from one direction only, u <= v_i + weight_i^(-1/2).
  VOXHERD_INLINED Number bound() const {
    Number u = unreached;
    VOXHERD_UNROLL
    for (int i = 0; i < selling_directions; ++i) u = lane::min(u, v[i] + step(weight[i]));
    return u;
  }

  /// One step from `u`, at or above the solution; returns u itself if it is the solution to rounding.
  VOXHERD_INLINED Number newton(Number u) const {
    Number f, slope;
    evaluate(u, f, slope);
    return lane::select(f > 0.0f, u - 0.5f * f * lane::reciprocal(slope), u);
  }
  /// One step from anywhere: from below the solution it leads above it, possibly to infinity.
  VOXHERD_INLINED Number newton_from_anywhere(Number u) const {
    Number f, slope;
    evaluate(u, f, slope);
    return u - 0.5f * f * lane::reciprocal(slope);
  }

 private:
  /// f - 1 and half its slope
  VOXHERD_INLINED void evaluate(Number u, Number& f, Number& slope) const {
    f = -1.0f;
    slope = 0.0f;
    VOXHERD_UNROLL
    for (int i = 0; i < selling_directions; ++i) {
      const Number t = lane::max(u - v[i], Number(0.0f)), wt = weight[i] * t;
      f = lane::fma(wt, t, f);
      slope += wt;
    }
  }
};

/// For cells that no front can enter or leave along Selling's directions because of the mask (lattice_builder.hpp):
/// straight steps to the six face neighbours, u <= v + sqrt(e . S^-1 e). Each is the cost of a path, so an upper bound;
/// everything connected by faces is reached.
template <class Team>
class face_net {
 public:
  using number = typename Team::number;

  VOXHERD_FUNCTION face_net(const graph_view& graph, std::uint32_t block) : graph_(graph), net_(graph.net_of[block]) {}

  VOXHERD_FUNCTION bool is_there() const { return net_ >= 0; }

  /// Loads values of other blocks, which stay fixed.
  VOXHERD_FUNCTION void load(const Team& team, int chunk, const float* values, const std::uint32_t* base) {
    team.each_cell(chunk, [&](auto cell) {
      number least = unreached;
      VOXHERD_UNROLL_BY(1)
      for (int d = 0; d < 3; ++d)
        for (int side = 0; side < 2; ++side) {
          const auto pair = team.pick(graph_.net_pair, first(), d * block_cells, cell);
          const auto neighbour = pair_index(pair, side);
          if (!lane::any(neighbour >= block_cells)) continue;
          least = lane::min(least, team.fetch_outside(values, base, neighbour, cell) +
                                       team.pick(graph_.net_cost, first(), d * block_cells, cell));
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

/// Data of a block common to both orders: weights along Selling's directions, `Pairs` pairs of neighbours per cell, the
/// blocks read, and the block's net if it has one.
template <class Team, int Pairs>
class directed_block {
 public:
  using number = typename Team::number;
  using words = typename Team::words;
  using scratch = visit_scratch<block_cells>;

  /// `weight`: lattice_view::weight; `stride`: pairs per cell in the graph.
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
