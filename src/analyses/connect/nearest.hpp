#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Which regions are nearest to a voxel. Of regions with the same cost, the earlier one is first, in whatever order
/// they are added.
struct nearest_regions {
  std::vector<std::int32_t> first, second;     ///< positions in the list of regions; -1: none
  std::vector<float> first_cost, second_cost;  ///< infinite: none

  explicit nearest_regions(std::size_t voxels);
  std::size_t voxels() const { return first.size(); }

  /// Adds the fronts of consecutive regions: `arrival` has one row of voxels per front.
  void add(std::size_t first_region, std::span<const float> arrival, int threads);
  /// Adds what was found among other regions.
  void add(const nearest_regions& others);
};

/// Among the regions of all ranks, of which each has searched some. On rank 0; empty on the others. Collective.
nearest_regions gather_nearest(const session& s, nearest_regions own);

}  // namespace voxherd
