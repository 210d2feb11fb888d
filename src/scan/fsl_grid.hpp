#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/scan/label_image.hpp"

namespace voxherd {

/// The grid of an image as FSL stores it in memory: with the first axis backwards if the determinant of the
/// voxel-to-world matrix is positive. FSL's bvec frame is its axes.
struct fsl_grid : image_grid {
  fsl_grid() = default;
  explicit fsl_grid(const image_grid& in_file);

  bool is_turned() const { return turned_; }
  const image_grid& in_file() const { return file_; }

  /// The linear index in the file of a voxel of this grid, and likewise back.
  std::uint64_t turned(std::uint64_t voxel) const;
  std::vector<std::uint64_t> turned(std::vector<std::uint64_t> voxels) const;

 private:
  image_grid file_;
  bool turned_ = false;
};

/// The labels of a file, resampled to the grid of an image's file, in FSL's order. Throws failure.
label_image read_labels(const std::string& path, const fsl_grid& grid, label_kind kind);

}  // namespace voxherd
