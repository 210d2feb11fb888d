#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/neighbour.hpp"

namespace voxherd::connect {

/// Cost of a step of one voxel along an axis, sqrt((S^-1)_dd).
VOXHERD_FUNCTION inline float face_cost(const lattice_view& l, std::uint32_t cell, int axis) {
  double s[6];
  for (int n = 0; n < 6; ++n) s[n] = static_cast<double>(l.tensor[lattice_view::plane(cell, selling_directions, n)]);
  const double minors[3] = {s[3] * s[5] - s[4] * s[4], s[0] * s[5] - s[2] * s[2], s[0] * s[3] - s[1] * s[1]};
  const double det = s[0] * minors[0] - s[1] * (s[1] * s[5] - s[4] * s[2]) + s[2] * (s[1] * s[4] - s[3] * s[2]);
  return static_cast<float>(std::sqrt(minors[axis] / det));
}

/// A block's net (directed_block.hpp): (3, 64) each. Null if there is no room for it.
struct block_net {
  std::uint32_t* pair;
  float* cost;
};

/// Finds the blocks that a block reads, and its cells' neighbours as indices into that list.
///
/// `Found` collects them: size(), block(n) of the blocks so far; add(block), with no cells read; mark(n, order, cell)
/// for a cell of block n that is read in this order; start_net(), at most once.
template <class Found>
class block_reader {
 public:
  /// `needs_net`: one value per cell, or null. `to`: (pairs, 64), the neighbours.
  VOXHERD_FUNCTION block_reader(const lattice_view& l, const std::uint8_t* needs_net, std::uint32_t block, int pairs,
                                std::uint32_t* to, Found& found)
      : lattice_(l), needs_net_(needs_net), block_(block), pairs_(pairs), to_(to), found_(found) {
    for (std::uint8_t& n : listed_) n = not_listed;
  }

  /// Returns how many neighbours were left out because there would be more than max_read_blocks blocks.
  VOXHERD_FUNCTION std::uint32_t read_along_directions() {
    found_.add(block_);
    listed_[near_blocks / 2] = 0;
    for (std::uint32_t c = 0; c < block_cells; ++c) {
      for (int n = 0; n < pairs_; ++n) to_[static_cast<std::uint32_t>(n) * block_cells + c] = c | c << 16;
      const std::uint32_t cell = block_ * block_cells + c;
      if (lattice_.find_voxel[cell] < 0) continue;
      int at[3];
      voxel_place(lattice_, lattice_.find_voxel[cell], at);
      for (int d = 0; d < 3; ++d) corner_[d] = at[d] / block_side;
      const std::uint32_t dropped_before = dropped_;
      read_cell(cell, c, at);
      if (dropped_ != dropped_before || (needs_net_ != nullptr && needs_net_[cell] != 0))
        read_across_faces(cell, c, at);
    }
    return dropped_;
  }

 private:
  VOXHERD_FUNCTION void start_net() {
    net_ = found_.start_net();
    has_net_ = true;
    if (net_.pair == nullptr) return;
    for (std::uint32_t n = 0; n < 3 * block_cells; ++n) {
      net_.pair[n] = n % block_cells * 0x10001u;
      net_.cost[n] = 0;
    }
  }

  VOXHERD_FUNCTION void read_across_faces(std::uint32_t cell, std::uint32_t c, const int (&at)[3]) {
    if (!has_net_) start_net();
    if (net_.pair == nullptr) return;
    for (int d = 0; d < 3; ++d) {
      const std::uint32_t place = static_cast<std::uint32_t>(d) * block_cells + c;
      net_.cost[place] = face_cost(lattice_, cell, d);
      for (int side = 0; side < 2; ++side) {
        int position[3] = {at[0], at[1], at[2]};
        position[d] += side == 0 ? 1 : -1;
        const std::int32_t near = lattice_.cell_at(position[0], position[1], position[2]);
        if (near >= 0) take(near, position, 0, side, net_.pair[place]);
      }
    }
  }

  VOXHERD_FUNCTION void read_cell(std::uint32_t cell, std::uint32_t c, const int (&at)[3]) {
    for (int i = 0; i < selling_directions; ++i) {
      int e[3];
      unpack_offset(lattice_.offset[lattice_view::plane(cell, selling_directions, i)], e);
      for (int side = 0; side < 2; ++side) {
        const std::uint32_t open = lattice_.open[cell] >> (2 * i + side);
        if ((open & 1) == 0) continue;
        const int s = side == 0 ? 1 : -1;
        const int next[3] = {at[0] + s * e[0], at[1] + s * e[1], at[2] + s * e[2]};
        if (!take(lattice_.cell_at(next[0], next[1], next[2]), next, 0, side, pair(i, c))) continue;
        if (pairs_ == first_pairs || (open & second_open) == 0) continue;
        const int second[3] = {next[0] + s * e[0], next[1] + s * e[1], next[2] + s * e[2]};
        take(lattice_.cell_at(second[0], second[1], second[2]), second, 1, side, pair(first_pairs + i, c));
      }
    }
  }

  VOXHERD_FUNCTION std::uint32_t& pair(int n, std::uint32_t c) {
    return to_[static_cast<std::uint32_t>(n) * block_cells + c];
  }

  /// `at`: the cell's voxel.
  VOXHERD_FUNCTION bool take(std::int32_t cell, const int (&at)[3], int from_order, int side, std::uint32_t& pair) {
    const std::uint32_t n = number_of(static_cast<std::uint32_t>(cell) / block_cells, at);
    if (n == max_read_blocks) {
      ++dropped_;
      return false;
    }
    const std::uint32_t local_cell = static_cast<std::uint32_t>(cell) % block_cells;
    for (int order = from_order; order < 2; ++order) found_.mark(n, order, local_cell);
    const std::uint32_t number = n * block_cells + local_cell;
    pair = side == 0 ? (pair & 0xffff0000u) | number : (pair & 0xffffu) | number << 16;
    return true;
  }

  /// The block's place in the list, where it is added if there is room; max_read_blocks if there is none.
  VOXHERD_FUNCTION std::uint32_t number_of(std::uint32_t block, const int (&at)[3]) {
    int beside = 0;
    bool is_near = true;
    for (int d = 2; d >= 0; --d) {
      const int away = at[d] / block_side - corner_[d];
      is_near = is_near && away >= -reach && away <= reach;
      beside = beside * (2 * reach + 1) + away + reach;
    }
    if (is_near && listed_[beside] != not_listed) return listed_[beside];
    std::uint32_t n = 0;
    if (is_near) {
      n = found_.size();  // every listed block that is near has its entry in the table
    } else {
      while (n < found_.size() && found_.block(n) != block) ++n;
    }
    if (n == max_read_blocks) return n;
    if (n == found_.size()) found_.add(block);
    if (is_near) listed_[beside] = static_cast<std::uint8_t>(n);
    return n;
  }

  /// Most blocks that are read are at most so many blocks away: their places in the list are in a table.
  static constexpr int reach = 2, near_blocks = (2 * reach + 1) * (2 * reach + 1) * (2 * reach + 1);
  static constexpr std::uint8_t not_listed = max_read_blocks;

  const lattice_view& lattice_;
  const std::uint8_t* needs_net_;
  std::uint32_t block_;
  int pairs_;
  std::uint32_t* to_;
  Found& found_;
  int corner_[3]{};  ///< of the block, in blocks
  std::uint8_t listed_[near_blocks];
  std::uint32_t dropped_ = 0;
  bool has_net_ = false;
  block_net net_{nullptr, nullptr};
};

}  // namespace voxherd::connect
