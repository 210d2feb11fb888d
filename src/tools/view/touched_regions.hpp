#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd::view {

/// The labels of the voxels that each fibre of a result passes. Between two points a fibre is straight; it is looked
/// at in steps of an eighth of a voxel.
class touched_regions {
 public:
  /// Reads all points. `regions`: on the result's grid.
  touched_regions(const result_reader& r, const label_image& regions);

  /// Increasing, without 0.
  std::span<const std::int32_t> of_fibre(std::uint64_t item) const {
    return std::span(labels_).subspan(first_[item], first_[item + 1] - first_[item]);
  }

 private:
  std::vector<std::uint64_t> first_{0};
  std::vector<std::int32_t> labels_;
};

}  // namespace voxherd::view
