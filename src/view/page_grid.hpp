#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "src/show/grid_view.hpp"

namespace voxherd::view {

/// The image as it is sent to the page: axes to the right, to the front and upwards, so that the page's voxel numbers
/// agree with NiiVue's, which reorders every image so.
class page_grid {
 public:
  explicit page_grid(const image_grid& grid);

  const image_grid& grid() const { return reordered_; }
  /// Linear index on the page of the image's voxel.
  std::uint64_t on_page(std::uint64_t voxel) const;
  /// Linear index in the image of the page's voxel.
  std::uint64_t in_file(std::uint64_t voxel) const;
  const report::grid_view& view() const { return view_; }
  /// x, y, z on the page of the voxel that is nearest the centroid of the image's voxels, in mm; the middle of the grid
  /// if there are none.
  std::array<std::uint64_t, 3> middle_of(std::span<const std::uint64_t> voxels) const;
  /// One component of a map (nz, ny, nx, components) in the page's order.
  std::vector<float> reordered(std::span<const float> values, std::size_t components, std::size_t component) const;
  std::vector<std::int32_t> reordered(std::span<const std::int32_t> labels) const;
  /// A NIfTI file of values in the page's order.
  std::string nifti(std::span<const float> values) const;
  std::string nifti(std::span<const std::int32_t> labels) const;

 private:
  template <class T>
  std::vector<T> reorder(std::span<const T> values, std::size_t components, std::size_t component) const;

  report::grid_view view_;
  image_grid reordered_;
};

/// What the page draws as superquadrics: tensors of some voxels.
struct glyph_set {
  std::uint64_t stride = 1;           ///< one voxel of so many is shown
  std::vector<std::uint32_t> voxels;  ///< numbers of the voxels on the page
  std::vector<float> eigen;           ///< per voxel three eigenvalues (largest first) and three eigenvectors (world)
  static constexpr std::size_t width = 12;
};

/// Glyphs of at most `max_count` of the image's voxels, evenly distributed in space. `tensors`: six numbers for each
/// voxel of the image, along world axes.
glyph_set make_glyphs(std::span<const std::uint64_t> voxels, std::span<const float> tensors, const page_grid& grid,
                      std::uint64_t max_count);

}  // namespace voxherd::view
