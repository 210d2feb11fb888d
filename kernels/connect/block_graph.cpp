#include "kernels/connect/block_graph.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/connect/block_reader.hpp"
#include "kernels/connect/lattice_builder.hpp"
#include "kernels/connect/neighbour.hpp"
#include "kernels/device/each_cpu.hpp"

namespace voxherd::connect {

namespace {

struct read_cells {
  std::uint32_t block;
  std::uint64_t cells[2];
};

/// What a block_reader finds.
struct read_list {
  std::vector<read_cells> reads;
  std::vector<std::uint32_t> net_pair;  ///< (3, 64), empty if no cell needs a net
  std::vector<float> net_cost;

  std::uint32_t size() const { return static_cast<std::uint32_t>(reads.size()); }
  std::uint32_t block(std::uint32_t n) const { return reads[n].block; }
  void add(std::uint32_t block) { reads.push_back({block, {0, 0}}); }
  void mark(std::uint32_t n, int order, std::uint32_t cell) { reads[n].cells[order] |= std::uint64_t{1} << cell; }
  block_net start_net() {
    net_pair.resize(std::size_t{3} * block_cells);
    net_cost.resize(net_pair.size());
    return {net_pair.data(), net_cost.data()};
  }
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
      read_list found;
      dropped[b] = block_reader(view, needs_net.empty() ? nullptr : needs_net.data(), b, g.pairs,
                                &g.neighbour[std::size_t{b} * static_cast<unsigned>(g.pairs) * block_cells], found)
                       .read_along_directions();
      reads[b] = std::move(found.reads);
      net_pair[b] = std::move(found.net_pair);
      net_cost[b] = std::move(found.net_cost);
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
