#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace voxherd {

/// Disjoint sets of numbered elements (union-find).
class disjoint_sets {
 public:
  explicit disjoint_sets(std::size_t count);
  std::uint32_t root(std::uint32_t of);
  /// Merges two sets; returns their common root, the smaller of the two roots.
  std::uint32_t join(std::uint32_t a, std::uint32_t b);

 private:
  std::vector<std::uint32_t> parent_;
};

/// Which voxels of a masked image touch each other.
class voxel_neighbours {
 public:
  /// `voxels`: linear indices, increasing.
  voxel_neighbours(const std::array<std::uint64_t, 3>& size, const std::vector<std::uint64_t>& voxels);

  /// Calls `visit(number)` for each of the voxel's neighbours in the mask: 6 that share a face, or 26 that share a
  /// corner.
  template <class Visit>
  void each(std::uint32_t number, int neighbours, const Visit& visit) const {
    const std::array<std::int64_t, 3> at = place(number);
    for (std::int64_t z = -1; z <= 1; ++z)
      for (std::int64_t y = -1; y <= 1; ++y)
        for (std::int64_t x = -1; x <= 1; ++x) {
          const std::int64_t steps = x * x + y * y + z * z;
          if (steps == 0 || (neighbours == 6 && steps > 1)) continue;
          const std::int32_t other = number_at(at[0] + x, at[1] + y, at[2] + z);
          if (other >= 0) visit(static_cast<std::uint32_t>(other));
        }
  }

 private:
  std::array<std::int64_t, 3> place(std::uint32_t number) const;
  std::int32_t number_at(std::int64_t x, std::int64_t y, std::int64_t z) const;

  std::array<std::int64_t, 3> size_;
  const std::vector<std::uint64_t>& voxels_;
  std::vector<std::int32_t> number_of_;  ///< (nz, ny, nx); -1 outside
};

/// Voxels that a front did not reach, by island: parts of the mask that share no face with each other.
struct unreached_voxels {
  std::uint64_t voxels = 0;
  std::uint64_t islands = 0;         ///< parts of the mask without any reached voxel
  std::uint64_t largest_island = 0;  ///< its voxels
  std::uint64_t elsewhere = 0;       ///< unreached voxels in parts that were reached
};

/// The part of the mask that each voxel belongs to, as the number of its first voxel.
std::vector<std::uint32_t> islands_of(const voxel_neighbours& space, std::size_t voxels);

unreached_voxels count_unreached(const std::vector<std::uint32_t>& island, const std::vector<float>& arrival);

}  // namespace voxherd
