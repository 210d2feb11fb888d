#include "src/io/nifti/companion.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd {

bool has_orientation(const nlohmann::json& geometry) {
  return geometry.is_null() || geometry.at("qform_code") != 0 || geometry.at("sform_code") != 0;
}

void reorder(nifti_header& header, const storage_order& order) {
  const storage_order before = header.order;
  header.grid = reordered(header.grid, order);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t axis = order.stored_axis[d];
    header.order.stored_axis[d] = before.stored_axis[axis];
    header.order.is_reversed[d] = order.is_reversed[d] != before.is_reversed[axis];
  }
}

std::optional<nearest_order> match_companion(const nifti_header& companion, const nifti_header& image) {
  if (has_orientation(companion.geometry) && has_orientation(image.geometry))
    return find_nearest_order(companion.grid, image.grid);
  if (companion.grid.size != image.grid.size) return std::nullopt;
  return nearest_order{};
}

double apart_in_voxels(const image_grid& grid, const image_grid& image) {
  double most = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    std::array<double, 3> apart_mm{};
    for (std::size_t row = 0; row < 3; ++row) {
      const auto difference = [&](std::size_t column) {
        return grid.voxel_to_world[4 * row + column] - image.voxel_to_world[4 * row + column];
      };
      apart_mm[row] = difference(3);
      for (std::size_t axis = 0; axis < 3; ++axis)
        if ((corner >> axis & 1U) != 0) apart_mm[row] += difference(axis) * static_cast<double>(image.size[axis] - 1);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double along = 0, square = 0;
      for (std::size_t row = 0; row < 3; ++row) {
        const double step_mm = image.voxel_to_world[4 * row + axis];
        along += apart_mm[row] * step_mm;
        square += step_mm * step_mm;
      }
      most = std::max(most, std::abs(along) / square);
    }
  }
  return most;
}

storage_order fsl_order(const image_grid& companion, const image_grid& image) {
  storage_order order;
  order.is_reversed[0] = is_right_handed(companion) != is_right_handed(image);
  return order;
}

bool bring_from_same_place(nifti_header& companion, const image_grid& image, const nlohmann::json& geometry) {
  nifti_header place;  // the fields that match_companion() needs
  place.grid = image;
  place.geometry = geometry;
  const auto found = match_companion(companion, place);
  if (!found) return false;
  const bool are_placed = has_orientation(companion.geometry) && has_orientation(geometry);
  if (are_placed && apart_in_voxels(reordered(companion.grid, found->order), image) >= same_voxel_voxels) return false;
  reorder(companion, found->order);
  return true;
}

bool bring_unchecked(nifti_header& companion, const image_grid& image, const nlohmann::json& geometry) {
  if (bring_from_same_place(companion, image, geometry)) return true;
  if (companion.grid.size != image.size) return false;
  reorder(companion, fsl_order(companion.grid, image));
  return true;
}

}  // namespace voxherd
