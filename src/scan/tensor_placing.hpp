#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/portable/gradients.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// Puts tensors along the axes of the bvecs (6 a voxel) into an image along the world's axes, and marks their voxels as
/// inside. A voxel that was not fitted (`status`: voxel_status), or whose trace is not positive, is left as it is.
/// Returns how many were left. `voxels`: linear indices.
std::size_t place_tensors(const image_grid& grid, std::span<const std::uint64_t> voxels, std::span<const float> tensors,
                          std::span<const std::uint8_t> status, geodesic::tensor_image& image);

/// The signals that tensors were fitted to, of the voxels that have a tensor.
struct kept_signals {
  std::vector<std::uint64_t> voxels;  ///< linear indices, increasing
  std::vector<float> rows;            ///< K a voxel, then nine of the gradient deviation where there is one
  gradient_table gradients;
  bool gradient_deviation = false;
};

/// Of the voxels that are inside, for this rank. Collective. Throws failure (disk, or as bring_stage()).
kept_signals keep_signals(const session& s, dwi_series& dwi, const std::vector<std::uint8_t>& inside);

}  // namespace voxherd
