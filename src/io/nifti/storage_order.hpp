#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "core/analysis.hpp"

namespace voxherd {

/// How an image that is stored in one order of its voxels is read in another one: axes are exchanged and reversed. One
/// of 48; the default leaves everything as it is stored.
struct storage_order {
  std::array<std::uint8_t, 3> stored_axis{0, 1, 2};  ///< of each axis
  std::array<bool, 3> is_reversed{};                 ///< whether this axis runs against the stored one

  static constexpr auto members() { return std::tuple(&storage_order::stored_axis, &storage_order::is_reversed); }

  bool is_as_stored() const { return *this == storage_order{}; }
  /// Whether a right hand in one order is a left hand in the other.
  bool is_mirrored() const;
  friend auto operator<=>(const storage_order&, const storage_order&) = default;
};

/// A stored image's grid in another order: the same voxels at the same places in the world.
image_grid reordered(const image_grid& stored, const storage_order& order);

/// Finds where voxels are stored. Indices are linear.
class stored_places {
 public:
  /// `size`: in the order in which voxels are asked for.
  stored_places(const std::array<std::uint64_t, 3>& size, const storage_order& order);

  std::uint64_t operator()(std::uint64_t voxel) const {
    return at(voxel % size_[0], voxel / size_[0] % size_[1], voxel / (size_[0] * size_[1]));
  }
  std::uint64_t at(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    return first_ + x * step_[0] + y * step_[1] + z * step_[2];
  }
  std::uint64_t step() const { return step_[0]; }  ///< from one voxel to the next along the first axis

 private:
  std::array<std::uint64_t, 3> size_;
  std::array<std::uint64_t, 3> step_{};  ///< modulo 2^64, so that a step backwards is possible
  std::uint64_t first_ = 0;
};

/// The order in which an image is nearest to a grid.
struct nearest_order {
  storage_order order;
  double apart_mm = 0;  ///< largest distance between the centres of two voxels of the same index
};

/// Nothing if the image has another size than the grid in every order. As stored if this is as near as another order.
std::optional<nearest_order> find_nearest_order(const image_grid& stored, const image_grid& wanted);

/// Whether the determinant of the voxel-to-world matrix is positive, so that FSL's bvec frame has the first axis
/// negated.
bool is_right_handed(const image_grid& grid);

/// "RAS": the directions in the world that are nearest to the axes of a grid, each of them once.
std::string axis_codes(const image_grid& grid);

/// Largest distance (mm) between the world positions that two matrices (4x4, row-major) give to a corner of a grid of
/// `size` voxels.
double largest_displacement_mm(const std::array<std::uint64_t, 3>& size, const std::array<double, 16>& one,
                               const std::array<double, 16>& other);

}  // namespace voxherd
