#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "kernels/track/warp.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/warps/transform.hpp"

namespace voxherd {

struct voxel_box {
  vector3 low, high;
};

/// A map between the voxels of two images, which may be a warp: affine(p) + the displacement at to_field(p), in voxels.
/// Without the displacements.
struct warp_shape {
  /// Layers around the file's grid. FSL keeps the border's displacement for one voxel; in the next one it falls to 0.
  static constexpr std::int32_t margin = 2;

  voxel_map affine;
  voxel_map to_field;                  ///< to points of the displacements, margin included
  std::array<std::int32_t, 3> size{};  ///< of their grid, with the margin; 0: affine

  std::size_t points() const;

  static constexpr auto members() { return std::tuple(&warp_shape::affine, &warp_shape::to_field, &warp_shape::size); }
};

/// The same with the displacements, which are elsewhere.
struct voxel_warp : warp_shape {
  const track::displacement* values = nullptr;  ///< x fastest

  vector3 operator()(const vector3& voxel) const;
  /// A box that holds the images of all points within `half` of a point along each axis.
  voxel_box bounds(const vector3& voxel, const vector3& half) const;
  /// Whether the point is in the grid of the file.
  bool covers(const vector3& voxel) const;
  bool is_identity() const;
  track::point_warp view() const;
};

/// A warp and its displacements, to which it does not refer yet.
struct new_warp {
  voxel_warp map;
  std::vector<track::displacement> values;
};

/// The map of a transform from voxels of the new image to voxels of the old one.
new_warp make_voxel_warp(const transform& t, const fsl_grid& new_image, const fsl_grid& old_image);

/// How far two maps are from being each other's inverse.
struct inverse_error {
  double median_mm = 0, p95_mm = 0;
  std::uint64_t points = 0;

  static constexpr auto members() {
    using T = inverse_error;
    return std::tuple(&T::median_mm, &T::p95_mm, &T::points);
  }
};

/// At evenly chosen voxels of `grid` whose point there(voxel) is in a voxel with `used` != 0 of `other`: the distance
/// to back(there(voxel)).
inverse_error find_inverse_error(const image_grid& grid, const voxel_warp& there, const voxel_warp& back,
                                 const image_grid& other, const std::vector<std::uint8_t>& used);

}  // namespace voxherd
