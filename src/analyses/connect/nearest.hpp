#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"

namespace voxherd {

/// Which regions are nearest to a voxel. If regions have the same cost, the earlier one is first.
struct nearest_regions {
  std::vector<std::int32_t> first_label, second_label;  ///< 0: none
  std::vector<float> first_cost, second_cost;           ///< infinite: none

  explicit nearest_regions(std::size_t voxels);
  std::size_t voxels() const { return first_cost.size(); }

  /// Adds the fronts of later regions: `arrival` has one row of voxels per label.
  void add(std::span<const std::int32_t> labels, std::span<const float> arrival, int threads);
  /// Adds what another search found among later regions.
  void add(const nearest_regions& later);
};

/// From the arrival times in a result file; the ranks share the regions. On rank 0; empty on the others. Collective.
nearest_regions find_nearest(const session& s, const std::string& arrivals, const std::vector<std::int32_t>& labels,
                             std::size_t voxels, int threads);

}  // namespace voxherd
