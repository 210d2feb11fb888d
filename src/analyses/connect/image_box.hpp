#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/tensor_field/field.hpp"

namespace voxherd {

/// A part of an image.
struct image_box {
  std::array<std::uint64_t, 3> first{}, size{};
};

/// The part that contains all voxels inside. It starts at the start of a solver block, so that its blocks are the same.
/// The complete image if no voxel is inside.
image_box bounding_box(const std::vector<std::uint8_t>& inside, const std::array<std::uint64_t, 3>& size);

/// (nz, ny, nx, numbers) of the box.
template <class T>
std::vector<T> cropped(const std::vector<T>& values, const std::array<std::uint64_t, 3>& size, const image_box& box,
                       std::size_t numbers = 1) {
  std::vector<T> part;
  part.reserve(box.size[0] * box.size[1] * box.size[2] * numbers);
  for (std::uint64_t z = 0; z < box.size[2]; ++z)
    for (std::uint64_t y = 0; y < box.size[1]; ++y) {
      const std::uint64_t from = ((box.first[2] + z) * size[1] + box.first[1] + y) * size[0] + box.first[0];
      const T* row = values.data() + from * numbers;
      part.insert(part.end(), row, row + box.size[0] * numbers);
    }
  return part;
}

/// The grid of the box, at the same position in world coordinates.
tensor_field::tensor_image cropped(const tensor_field::tensor_image& image, const image_box& box);

}  // namespace voxherd
