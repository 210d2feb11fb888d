#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "src/tools/report/grid_view.hpp"

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
  /// A direction in the frame of the bvecs: to the right, to the front, upwards.
  std::array<double, 3> in_world(const std::array<double, 3>& direction) const { return view_.in_world(direction); }
  /// One component of a map (nz, ny, nx, components) in the page's order.
  std::vector<float> reordered(std::span<const float> values, std::size_t components, std::size_t component) const;
  /// A NIfTI file of values in the page's order.
  std::string nifti(std::span<const float> values) const;

 private:
  report::grid_view view_;
  image_grid reordered_;
};

}  // namespace voxherd::view
