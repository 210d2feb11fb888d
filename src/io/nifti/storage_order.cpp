#include "src/io/nifti/storage_order.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd {

namespace {

template <class Visit>
void for_each_order(const Visit& visit) {
  std::array<std::uint8_t, 3> axes{0, 1, 2};
  do {
    for (unsigned reversed = 0; reversed < 8; ++reversed)
      visit(storage_order{axes, {(reversed & 1U) != 0, (reversed & 2U) != 0, (reversed & 4U) != 0}});
  } while (std::next_permutation(axes.begin(), axes.end()));
}

}  // namespace

bool storage_order::is_mirrored() const {
  bool mirrored = false;
  for (std::size_t a = 0; a < 3; ++a) {
    mirrored ^= is_reversed[a];
    for (std::size_t b = a + 1; b < 3; ++b) mirrored ^= stored_axis[a] > stored_axis[b];
  }
  return mirrored;
}

image_grid reordered(const image_grid& stored, const storage_order& order) {
  image_grid grid = stored;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t axis = order.stored_axis[d];
    grid.size[d] = stored.size[axis];
    grid.voxel_size_mm[d] = stored.voxel_size_mm[axis];
    for (std::size_t row = 0; row < 3; ++row) {
      const double step = stored.voxel_to_world[4 * row + axis];
      grid.voxel_to_world[4 * row + d] = order.is_reversed[d] ? -step : step;
      if (order.is_reversed[d]) grid.voxel_to_world[4 * row + 3] += step * static_cast<double>(stored.size[axis] - 1);
    }
  }
  return grid;
}

stored_places::stored_places(const std::array<std::uint64_t, 3>& size, const storage_order& order) : size_(size) {
  std::array<std::uint64_t, 3> stored_size{}, stride{1, 1, 1};
  for (std::size_t d = 0; d < 3; ++d) stored_size[order.stored_axis[d]] = size[d];
  stride[1] = stored_size[0], stride[2] = stored_size[0] * stored_size[1];
  for (std::size_t d = 0; d < 3; ++d) {
    step_[d] = stride[order.stored_axis[d]];
    if (!order.is_reversed[d]) continue;
    first_ += step_[d] * (size[d] - 1);
    step_[d] = -step_[d];
  }
}

std::optional<nearest_order> find_nearest_order(const image_grid& stored, const image_grid& wanted) {
  // An axis of one voxel may be reversed without moving it: such orders differ by rounding only.
  const double slack_mm = 1e-6 * *std::min_element(wanted.voxel_size_mm.begin(), wanted.voxel_size_mm.end());
  std::optional<nearest_order> nearest;
  for_each_order([&](const storage_order& order) {
    const image_grid grid = reordered(stored, order);
    if (grid.size != wanted.size) return;
    const double apart_mm = largest_displacement_mm(wanted.size, grid.voxel_to_world, wanted.voxel_to_world);
    if (!nearest || apart_mm < nearest->apart_mm - slack_mm) nearest = nearest_order{order, apart_mm};
  });
  return nearest;
}

bool is_right_handed(const image_grid& grid) {
  const auto& m = grid.voxel_to_world;
  return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
             m[2] * (m[4] * m[9] - m[5] * m[8]) >
         0;
}

std::string axis_codes(const image_grid& grid) {
  constexpr char codes[3][2] = {{'L', 'R'}, {'P', 'A'}, {'I', 'S'}};
  const auto along = [&](std::size_t row, std::size_t axis) {
    return grid.voxel_to_world[4 * row + axis] / grid.voxel_size_mm[axis];
  };
  double best = -1;
  std::string text;
  for_each_order([&](const storage_order& order) {
    double sum = 0;
    std::string here;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t row = order.stored_axis[axis];
      sum += order.is_reversed[axis] ? -along(row, axis) : along(row, axis);
      here += codes[row][order.is_reversed[axis] ? 0 : 1];
    }
    if (sum > best) best = sum, text = here;
  });
  return text;
}

double largest_displacement_mm(const std::array<std::uint64_t, 3>& size, const std::array<double, 16>& one,
                               const std::array<double, 16>& other) {
  double largest = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    std::array<double, 3> moved{};
    for (std::size_t r = 0; r < 3; ++r) {
      moved[r] = one[4 * r + 3] - other[4 * r + 3];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double index = (corner >> axis & 1U) != 0 ? static_cast<double>(size[axis] - 1) : 0;
        moved[r] += (one[4 * r + axis] - other[4 * r + axis]) * index;
      }
    }
    largest = std::max(largest, std::sqrt(moved[0] * moved[0] + moved[1] * moved[1] + moved[2] * moved[2]));
  }
  return largest;
}

}  // namespace voxherd
