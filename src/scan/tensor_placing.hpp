#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/portable/gradients.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// Rotates tensors from the bvec frame (6 per voxel) to world axes, writes them into an image and marks their voxels as
/// inside. Skips voxels that were not fitted (`status`: voxel_status) or whose trace is not positive, and returns their
/// number. `voxels`: linear indices.
std::size_t place_tensors(const image_grid& grid, std::span<const std::uint64_t> voxels, std::span<const float> tensors,
                          std::span<const std::uint8_t> status, tensor_field::tensor_image& image);

/// The signals of the voxels that have a tensor.
struct kept_signals {
  std::vector<std::uint64_t> voxels;  ///< linear indices, increasing
  std::vector<float> rows;            ///< K per voxel, then the 9 of the gradient deviation if given
  gradient_table gradients;
  bool gradient_deviation = false;
};

/// Loads the signals of all voxels that are inside, on this rank. Collective. Throws failure (disk, or as
/// await_stage_or_throw()).
kept_signals keep_signals(const session& s, dwi_series& dwi, const std::vector<std::uint8_t>& inside);

}  // namespace voxherd
