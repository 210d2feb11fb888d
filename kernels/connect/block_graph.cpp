#include "kernels/connect/block_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/connect/lattice_builder.hpp"
#include "kernels/connect/neighbour.hpp"
#include "kernels/device/each_cpu.hpp"

namespace voxherd::connect {

namespace {

struct read_cells {
  std::uint32_t block;
  std::uint64_t cells[2];
};

/// Cost of a step of one voxel along an axis, sqrt((S^-1)_dd).
float face_cost(const lattice_view& l, std::uint32_t cell, int axis) {
  double s[6];
  for (int n = 0; n < 6; ++n) s[n] = l.tensor[lattice_view::plane(cell, selling_directions, n)];
  const double minors[3] = {s[3] * s[5] - s[4] * s[4], s[0] * s[5] - s[2] * s[2], s[0] * s[3] - s[1] * s[1]};
  const double det = s[0] * minors[0] - s[1] * (s[1] * s[5] - s[4] * s[2]) + s[2] * (s[1] * s[4] - s[3] * s[2]);
  return static_cast<float>(std::sqrt(minors[axis] / det));
}

/// Finds the blocks that a block reads, and its cells' neighbours as indices into that list.
class block_reader {
 public:
  /// `needs_net`: one value per cell, or null
  block_reader(const lattice_view& l, const std::uint8_t* needs_net, std::uint32_t block, int pairs, std::uint32_t* to)
      : lattice_(l), needs_net_(needs_net), block_(block), pairs_(pairs), to_(to) {
    reads.push_back({block, {0, 0}});
  }

  void read_along_directions() {
    for (std::uint32_t c = 0; c < block_cells; ++c) {
      for (int n = 0; n < pairs_; ++n) to_[static_cast<std::uint32_t>(n) * block_cells + c] = c | c << 16;
      const std::uint32_t cell = block_ * block_cells + c;
      if (lattice_.find_voxel[cell] < 0) continue;
      const std::uint64_t dropped_before = dropped;
      read_cell(cell, c);
      if (dropped != dropped_before || (needs_net_ != nullptr && needs_net_[cell] != 0)) read_across_faces(cell, c);
    }
  }

  std::vector<read_cells> reads;
  std::uint64_t dropped = 0;
  std::vector<std::uint32_t> net_pair;  ///< (3, 64), empty if no cell needs a net
  std::vector<float> net_cost;

 private:
  void read_across_faces(std::uint32_t cell, std::uint32_t c) {
    if (net_pair.empty()) {
      for (std::uint32_t n = 0; n < 3 * block_cells; ++n) net_pair.push_back((n % block_cells) * 0x10001u);
      net_cost.assign(std::size_t{3} * block_cells, 0);
    }
    int at[3];
    voxel_place(lattice_, lattice_.find_voxel[cell], at);
    for (unsigned d = 0; d < 3; ++d) {
      net_cost[d * block_cells + c] = face_cost(lattice_, cell, static_cast<int>(d));
      for (int side = 0; side < 2; ++side) {
        int position[3] = {at[0], at[1], at[2]};
        position[d] += side == 0 ? 1 : -1;
        const std::int32_t near = lattice_.cell_at(position[0], position[1], position[2]);
        if (near >= 0) take(near, 0, side, net_pair[d * block_cells + c]);
      }
    }
  }

  void read_cell(std::uint32_t cell, std::uint32_t c) {
    const std::int32_t voxel = lattice_.find_voxel[cell];
    const int x = voxel % lattice_.size[0], y = voxel / lattice_.size[0] % lattice_.size[1],
              z = voxel / lattice_.size[0] / lattice_.size[1];
    for (int i = 0; i < selling_directions; ++i) {
      int e[3];
      unpack_offset(lattice_.offset[lattice_view::plane(cell, selling_directions, i)], e);
      for (int side = 0; side < 2; ++side) {
        if ((lattice_.open[cell] >> (2 * i + side) & 1) == 0) continue;
        const int s = side == 0 ? 1 : -1;
        const std::int32_t near = lattice_.cell_at(x + s * e[0], y + s * e[1], z + s * e[2]);
        if (!take(near, 0, side, pair(i, c)) || pairs_ == first_pairs) continue;
        if (may_go_on(x + s * e[0], y + s * e[1], z + s * e[2], s, e))
          take(lattice_.cell_at(x + 2 * s * e[0], y + 2 * s * e[1], z + 2 * s * e[2]), 1, side,
               pair(first_pairs + i, c));
      }
    }
  }

  bool may_go_on(int x, int y, int z, int s, const int (&e)[3]) const {
    const auto inside = [&](int a, int b, int d) { return lattice_.cell_at(a, b, d) >= 0; };
    const int step[3] = {s * e[0], s * e[1], s * e[2]};
    return step_rule(inside)(x, y, z, step);
  }

  std::uint32_t& pair(int n, std::uint32_t c) { return to_[static_cast<std::uint32_t>(n) * block_cells + c]; }

  bool take(std::int32_t cell, int from_order, int side, std::uint32_t& pair) {
    const auto block = static_cast<std::uint32_t>(cell) / block_cells;
    auto place = std::find_if(reads.begin(), reads.end(), [&](const read_cells& r) { return r.block == block; });
    if (place == reads.end()) {
      if (reads.size() == max_read_blocks) {
        ++dropped;
        return false;
      }
      place = reads.insert(reads.end(), {block, {0, 0}});
    }
    const std::uint32_t local_cell = static_cast<std::uint32_t>(cell) % block_cells;
    for (int order = from_order; order < 2; ++order) place->cells[order] |= std::uint64_t{1} << local_cell;
    const std::uint32_t number = static_cast<std::uint32_t>(place - reads.begin()) * block_cells + local_cell;
    pair = side == 0 ? (pair & 0xffff0000u) | number : (pair & 0xffffu) | number << 16;
    return true;
  }

  const lattice_view& lattice_;
  const std::uint8_t* needs_net_;
  std::uint32_t block_;
  int pairs_;
  std::uint32_t* to_;
};

/// Bit mask of the cells of a block that are adjacent to its neighbour block at (dx, dy, dz).
std::uint64_t rim(int dx, int dy, int dz) {
  std::uint64_t cells = 0;
  const auto touches = [](int place, int towards) {
    return towards == 0 || place == (towards > 0 ? block_side - 1 : 0);
  };
  for (int c = 0; c < block_cells; ++c)
    if (touches(c % 4, dx) && touches(c / 4 % 4, dy) && touches(c / 16, dz)) cells |= std::uint64_t{1} << c;
  return cells;
}

/// Finds the neighbouring blocks and, for each cell, which of its 26 neighbours must not be reached; records the cells
/// read.
void read_neighbours(const lattice_view& l, std::uint32_t block, std::uint32_t* near_block, std::uint32_t* near_closed,
                     std::vector<read_cells>& reads) {
  std::array<int, 3> corner{};
  for (std::uint32_t c = 0; c < block_cells; ++c) {
    const std::int32_t v = l.find_voxel[block * block_cells + c];
    if (v < 0) continue;
    corner = {v % l.size[0] - static_cast<int>(c % 4), v / l.size[0] % l.size[1] - static_cast<int>(c / 4 % 4),
              v / l.size[0] / l.size[1] - static_cast<int>(c / 16)};
    break;
  }
  const auto inside = [&](int x, int y, int z) { return l.cell_at(x, y, z) >= 0; };
  std::fill(near_block, near_block + 27, l.blocks);
  near_block[13] = block;
  // Finds a block through any of its voxels that a cell of this block may read.
  for (int c = 0; c < block_cells; ++c) {
    const int x = corner[0] + c % 4, y = corner[1] + c / 4 % 4, z = corner[2] + c / 16;
    std::uint32_t bits = 0;
    for (int n = 0; inside(x, y, z) && n < 27; ++n) {
      const int e[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      if (n == 13 || !inside(x + e[0], y + e[1], z + e[2])) continue;
      const auto side = [](int place) { return place < 0 ? 0 : place >= block_side ? 2 : 1; };
      near_block[side(c % 4 + e[0]) + 3 * side(c / 4 % 4 + e[1]) + 9 * side(c / 16 + e[2])] =
          static_cast<std::uint32_t>(l.cell_at(x + e[0], y + e[1], z + e[2])) / block_cells;
      if (!step_rule(inside)(x, y, z, e)) bits |= 1u << n;
    }
    near_closed[block * block_cells + static_cast<std::uint32_t>(c)] = bits;
  }
  for (int n = 0; n < 27; ++n) {
    if (n == 13 || near_block[n] == l.blocks) continue;
    const std::uint64_t cells = rim(-(n % 3 - 1), -(n / 3 % 3 - 1), -(n / 9 - 1));
    reads.push_back({near_block[n], {cells, cells}});
  }
}

/// Pads all lists to the same length, so that their offsets need no look-up.
void list_reads(const std::vector<std::vector<read_cells>>& reads, block_graph& g) {
  std::size_t longest = 1;
  for (const auto& list : reads) longest = std::max(longest, list.size());
  constexpr std::size_t step = 32;
  g.read_stride = static_cast<std::uint32_t>((longest + step - 1) / step * step);
  g.read_block.resize(std::size_t{g.blocks} * g.read_stride);
  for (std::uint32_t b = 0; b < g.blocks; ++b)
    for (std::uint32_t n = 0; n < g.read_stride; ++n)
      g.read_block[std::size_t{b} * g.read_stride + n] = n < reads[b].size() ? reads[b][n].block : b;
}

/// Inverts "reads" to "is read by".
void list_dependents(const std::vector<std::vector<read_cells>>& reads, block_graph& g) {
  g.first_dependent.assign(g.blocks + 1, 0);
  for (const auto& list : reads)
    for (const read_cells& r : list) ++g.first_dependent[r.block + 1];
  for (std::uint32_t b = 0; b < g.blocks; ++b) g.first_dependent[b + 1] += g.first_dependent[b];
  g.dependents.resize(g.first_dependent.back());
  std::vector<std::uint32_t> next(g.first_dependent.begin(), g.first_dependent.end() - 1);
  for (std::uint32_t reader = 0; reader < g.blocks; ++reader)
    for (const read_cells& r : reads[reader]) g.dependents[next[r.block]++] = {{r.cells[0], r.cells[1]}, reader, 0};
}

}  // namespace

graph_view block_graph::view() const {
  return {blocks,
          pairs,
          neighbour.data(),
          read_stride,
          read_block.data(),
          net_of.data(),
          net_pair.data(),
          net_cost.data(),
          first_dependent.data(),
          dependents.data(),
          near_block.data(),
          near_closed.data()};
}

block_graph build_graph(const lattice& l, const solver_settings& settings, int threads) {
  block_graph g;
  g.blocks = l.blocks;
  const bool along_directions = settings.scheme == scheme_kind::selling;
  if (along_directions) g.pairs = settings.order == 2 ? second_pairs : first_pairs;
  g.neighbour.resize(l.cells() * static_cast<std::size_t>(g.pairs));
  if (!along_directions) {
    g.near_block.resize(std::size_t{27} * g.blocks);
    g.near_closed.resize(l.cells());
  }
  const lattice_view view = l.view();
  const std::vector<std::uint8_t> needs_net = along_directions ? cells_that_need_nets(l) : std::vector<std::uint8_t>{};
  std::vector<std::vector<read_cells>> reads(g.blocks);
  std::vector<std::uint64_t> dropped(g.blocks);
  std::vector<std::vector<std::uint32_t>> net_pair(g.blocks);
  std::vector<std::vector<float>> net_cost(g.blocks);
  each_on_cpu(threads, g.blocks, [&](std::uint32_t b) {
    if (along_directions) {
      block_reader reader(view, needs_net.empty() ? nullptr : needs_net.data(), b, g.pairs,
                          &g.neighbour[std::size_t{b} * static_cast<unsigned>(g.pairs) * block_cells]);
      reader.read_along_directions();
      reads[b] = std::move(reader.reads);
      dropped[b] = reader.dropped;
      net_pair[b] = std::move(reader.net_pair);
      net_cost[b] = std::move(reader.net_cost);
    }
    if (!along_directions) read_neighbours(view, b, &g.near_block[std::size_t{27} * b], g.near_closed.data(), reads[b]);
  });
  for (const std::uint64_t d : dropped) g.dropped += d;
  for (std::uint32_t b = 0; b < g.blocks; ++b) {
    const bool has_net = !net_pair[b].empty();
    g.net_of.push_back(has_net ? static_cast<std::int32_t>(g.net_cost.size() / (3 * block_cells)) : -1);
    g.net_pair.insert(g.net_pair.end(), net_pair[b].begin(), net_pair[b].end());
    g.net_cost.insert(g.net_cost.end(), net_cost[b].begin(), net_cost[b].end());
  }
  list_reads(reads, g);
  // A block is not its own dependent: a visit iterates until nothing changes.
  for (std::uint32_t b = 0; b < g.blocks; ++b)
    std::erase_if(reads[b], [&](const read_cells& r) { return r.block == b; });
  list_dependents(reads, g);
  return g;
}

}  // namespace voxherd::connect
