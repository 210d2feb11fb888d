#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/track/point_map.hpp"

namespace voxherd::track {

/// The voxels that are the columns of a matrix, in an image of their own.
struct column_grid {
  std::int32_t size[3] = {};
  point_map to_voxel;                    ///< from voxels of the samples' image
  const std::int32_t* column = nullptr;  ///< (nz, ny, nx): number of the voxel's column; -1: none
  std::uint32_t columns = 0;
  bool square = false;  ///< column i is seed i; it is not counted in its own row

  /// The column of a point in voxels of the samples' image; -1: none.
  VOXHERD_FUNCTION std::int32_t find(const float (&p)[3]) const {
    std::size_t at = 0;
    for (int d = 2; d >= 0; --d) {
      const auto voxel = static_cast<std::int32_t>(lane::floor(to_voxel.coordinate(p, d) + 0.5f));
      if (voxel < 0 || voxel >= size[d]) return -1;
      at = at * static_cast<std::size_t>(size[d]) + static_cast<std::size_t>(voxel);
    }
    return column[at];
  }
};

/// A voxel of a matrix on a streamline.
struct crossing {
  std::uint32_t column;  ///< of field_view::matrix, or that many and the column of pair_columns
  std::int32_t steps;    ///< from the seed to the first point there; negative on the second half
};

/// Two voxels of a matrix that streamlines connect. Entries are in the order of their keys.
struct pair_entry {
  std::uint64_t key;  ///< row, of one mask the smaller one, and column: row << 32 | column
  std::uint64_t count;
  std::uint64_t steps;  ///< sum of the lengths between them
  bool operator==(const pair_entry&) const = default;
};

/// Calls sink(key, steps) for each two crossings of a streamline. `rows`: if not 0, only for those of which one is
/// below it, which is the row, and one is not.
template <class Sink>
VOXHERD_FUNCTION inline void for_each_pair(const crossing* all, std::uint32_t count, std::uint32_t rows,
                                           const Sink& sink) {
  for (std::uint32_t i = 1; i < count; ++i)
    for (std::uint32_t k = 0; k < i; ++k) {
      const bool i_first = all[i].column < all[k].column;
      const std::uint64_t first = all[i_first ? i : k].column, second = all[i_first ? k : i].column;
      if (rows > 0 && (first >= rows || second < rows)) continue;
      const std::int32_t steps = all[i].steps - all[k].steps;
      sink(first << 32 | (second - rows), static_cast<std::uint32_t>(steps < 0 ? -steps : steps));
    }
}

/// How many there are.
VOXHERD_FUNCTION inline std::uint64_t count_pairs(const crossing* all, std::uint32_t count, std::uint32_t rows) {
  if (rows == 0) return count == 0 ? 0 : static_cast<std::uint64_t>(count) * (count - 1) / 2;
  std::uint64_t in_rows = 0;
  for (std::uint32_t i = 0; i < count; ++i) in_rows += all[i].column < rows ? 1 : 0;
  return in_rows * (count - in_rows);
}

/// Sorts entries and adds up those with the same key.
void reduce_pairs(std::vector<pair_entry>& entries);

/// Rows of a sparse matrix (compressed sparse rows): row i has entries begin[i] to begin[i + 1] - 1, by column.
struct sparse_rows {
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint32_t> column, count;
  std::vector<std::uint64_t> steps;  ///< sum of the lengths from the seed
};

}  // namespace voxherd::track
