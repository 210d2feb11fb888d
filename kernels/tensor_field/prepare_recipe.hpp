#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/tensor_field/prepare_voxel.hpp"

namespace voxherd::tensor_field::prepare {

/// Voxel indices of the grid, x fastest.
struct grid {
  std::uint32_t nx, ny, nz;

  VOXHERD_FUNCTION std::uint32_t voxels() const { return nx * ny * nz; }
  VOXHERD_FUNCTION void place(std::uint32_t i, int& x, int& y, int& z) const {
    assert(i < voxels());
    const std::uint32_t row = i / nx;
    x = static_cast<int>(i - row * nx);
    z = static_cast<int>(row / ny);
    y = static_cast<int>(row - static_cast<std::uint32_t>(z) * ny);
  }
};

/// The arguments of make_field that kernels need.
struct recipe {
  grid size{};
  float input_unit = 1;  ///< makes the median largest eigenvalue of the image about 1; a power of two
  float background = 1;  ///< mean diffusivity of voxels far outside, in that unit
  float min_eigenvalue = 0;
  metric_rule metric{};
  double scale = 1;             ///< field::scale
  double to_index[9]{};         ///< inverse of the axes: world mm to index
  double axes_transposed[9]{};  ///< transpose of the axes: G_idx = A^T G A
  double smoothing_voxels = 0;
  field_kind kind = field_kind::tensor;
  bool spline = false;
};

/// Units and scale are computed from a sample of the voxels inside, on the host, so that they do not depend on the
/// device or the number of threads. Throws std::invalid_argument.
recipe make_recipe(const tensor_image& image, const preparation& settings, field_kind kind, bool spline);

/// The same from the tensors of unit_voxels(), 6 numbers each; `image.tensor` is not read.
recipe make_recipe(const tensor_image& image, std::span<const float> sample, const preparation& settings,
                   field_kind kind, bool spline);

/// The voxels that units and scale are computed from: 1024 to 2047 of those inside, evenly spaced, or all if there are
/// fewer.
std::vector<std::uint32_t> unit_voxels(std::span<const std::uint8_t> inside);

/// The parts of the view that do not depend on the device.
field_view make_view(const tensor_image& image);

}  // namespace voxherd::tensor_field::prepare
