#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/tools/view/page_grid.hpp"

namespace voxherd::view {

/// What the page draws as superquadrics: tensors of some voxels.
struct glyph_set {
  std::uint64_t stride = 1;           ///< one voxel of so many is shown
  std::vector<std::uint32_t> voxels;  ///< on the page
  std::vector<float> eigen;           ///< of each: three eigenvalues (largest first), three eigenvectors (world)
  static constexpr std::size_t width = 12;
};

/// Of at most `max_count` of the image's voxels, evenly distributed in space. `tensors`: six numbers for each voxel of
/// the image, along world axes.
glyph_set make_glyphs(std::span<const std::uint64_t> voxels, std::span<const float> tensors, const page_grid& grid,
                      std::uint64_t max_count);

}  // namespace voxherd::view
