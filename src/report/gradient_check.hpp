#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "kernels/portable/gradient_table.hpp"

namespace voxherd::report {

/// Mean length of streamlines with one flip or swap of the axes of the directions.
struct table_score {
  std::string change;  ///< "y negated", "x and y swapped"; "" for the table as it is
  double length_mm = 0;
};

/// Which flip or swap of the gradient directions gives the longest streamlines, after the test of Jeurissen, Leemans &
/// Sijbers (Med Image Anal 18:953, 2014): tensors are fitted once, and short streamlines follow their main directions,
/// changed in each of the 24 ways. It looks at about 30,000 voxels at most, around the object's centre.
class gradient_check {
 public:
  gradient_check() = default;  ///< of a scan without gradients
  /// `object`: increasing linear indices.
  gradient_check(const image_grid& grid, const gradient_table& gradients, const std::vector<std::uint64_t>& object);

  /// Every volume of the image, once.
  void add(std::uint64_t number, const std::vector<float>& volume);

  /// The table as it is, then the others, the longest first. Empty if too few voxels are anisotropic.
  std::vector<table_score> scores() const;

 private:
  image_grid grid_;
  gradient_table gradients_;            ///< of the volumes that are used
  std::vector<std::uint32_t> volumes_;  ///< their numbers
  std::array<std::uint64_t, 3> size_{};
  std::vector<std::uint64_t> voxels_;  ///< linear indices of the block's voxels in the image
  std::vector<std::uint8_t> inside_;   ///< whether each belongs to the object
  std::vector<float> rows_;            ///< (voxel, volume)
};

}  // namespace voxherd::report
