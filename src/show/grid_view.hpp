#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd::report {

/// Which side of the subject is on the left of a picture. Radiologists see the subject from the feet or from the front.
enum class view_sides { left_on_left, radiological };

/// An image grid as it is shown: axis 0 to the subject's right (left, if radiological), 1 to the front, 2 upwards, as
/// nearly as voxels allow.
class grid_view {
 public:
  explicit grid_view(const image_grid& grid, view_sides sides = view_sides::left_on_left);

  bool is_radiological() const { return sides_ == view_sides::radiological; }
  /// Whether the grid's orientation is_made_up().
  bool is_unknown() const { return is_unknown_; }
  /// Letters at both ends of an axis, as "L" and "R"; "L?" and "R?" of an orientation that is made up.
  std::array<const char*, 2> letters(int axis) const;
  /// Coordinate in the world of a place along an axis, in the middle of the image's other axes.
  double world_mm(int axis, std::uint64_t place) const;

  std::uint64_t size(int axis) const { return size_[axis_[index(axis)]]; }
  double spacing_mm(int axis) const { return spacing_mm_[axis_[index(axis)]]; }
  /// Linear index of the voxel at a place of the view.
  std::uint64_t voxel(const std::array<std::uint64_t, 3>& place) const;
  std::array<std::uint64_t, 3> place(std::uint64_t voxel) const;
  /// A direction in the frame of the bvecs, as seen in the view (not rotated into the world).
  std::array<double, 3> seen(const std::array<double, 3>& direction) const;
  /// The same in the world: to the right, to the front, upwards.
  std::array<double, 3> in_world(const std::array<double, 3>& direction) const;
  /// Places along the view's axes, in mm from its first voxel, of a point in the world; not rounded.
  std::array<double, 3> place_mm(const std::array<double, 3>& world_mm) const;
  /// The file's axis of each of the view's: +1, -2, ...: a negative one is seen backwards.
  std::array<int, 3> file_axes() const;

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  std::array<double, 3> image_axes(const std::array<double, 3>& direction) const;

  std::array<std::uint64_t, 3> size_;
  std::array<double, 3> spacing_mm_;
  std::array<std::size_t, 3> axis_;            ///< the file's axis for each axis of the view
  std::array<bool, 3> backwards_;              ///< for each axis of the view
  std::array<std::array<double, 3>, 3> unit_;  ///< direction in the world of each axis of the file
  std::array<double, 3> origin_mm_;
  bool is_right_handed_;
  view_sides sides_;
  bool is_unknown_;
};

/// Whether axes and origin are those of a program that knew neither: along the world's, from 0.
bool is_made_up(const image_grid& grid);

/// A picture of all voxels along one axis.
struct view_plane {
  int across, up;
  const char* name;
};
/// From above, from the right and from behind; of a radiological view from below, from the right and from the front.
std::array<view_plane, 3> three_views(const grid_view& view);
/// "Seen from above (left is left, the front at the top), ...": how to read them.
std::string describe_three_views(const grid_view& view);

/// The smallest box of the view that contains some voxels; `last` is inside.
struct view_box {
  std::array<std::uint64_t, 3> first{}, last{};
  std::uint64_t extent(int axis) const {
    const auto i = static_cast<std::size_t>(axis);
    return last[i] - first[i] + 1;
  }
};
view_box enclose(const grid_view& view, std::span<const std::uint64_t> voxels);

/// Slices next to each other, cropped to a box. Across are columns, down are rows of pixels from the top.
struct mosaic {
  int through = 2, across = 0, down = 1;  ///< axes of the view; `down` runs upwards in the picture
  view_box box;
  std::vector<std::uint64_t> slices;  ///< places along `through`
  std::size_t columns = 1;

  std::size_t tile_width() const { return box.extent(across); }
  std::size_t tile_height() const { return box.extent(down); }
  std::size_t width() const { return columns * tile_width(); }
  std::size_t height() const { return (slices.size() + columns - 1) / columns * tile_height(); }
  /// Calls use(x, y, place) for each pixel that shows a voxel.
  template <class Use>
  void for_each_pixel(const Use& use) const {
    for (std::size_t t = 0; t < slices.size(); ++t)
      for (std::size_t y = 0; y < tile_height(); ++y)
        for (std::size_t x = 0; x < tile_width(); ++x) {
          std::array<std::uint64_t, 3> place{};
          place[static_cast<std::size_t>(through)] = slices[t];
          place[static_cast<std::size_t>(across)] = box.first[static_cast<std::size_t>(across)] + x;
          place[static_cast<std::size_t>(down)] = box.last[static_cast<std::size_t>(down)] - y;
          use(t % columns * tile_width() + x, t / columns * tile_height() + y, place);
        }
  }
};

/// Up to `slice_limit` slices of the voxels' box: axial, or along its shortest side if that is much thinner than high.
/// Slices at both ends that show little are left out.
mosaic plan_mosaic(const grid_view& view, std::span<const std::uint64_t> voxels, std::size_t slice_limit);
/// "15 axial slices from z = -40 to 62 mm; the subject's left is on the left, the front is at the top".
std::string describe(const mosaic& m, const grid_view& view);

}  // namespace voxherd::report
