#include "src/analyses/connect/image_box.hpp"

#include <algorithm>

#include "kernels/connect/lattice.hpp"

namespace voxherd {

image_box bounding_box(const std::vector<std::uint8_t>& inside, const std::array<std::uint64_t, 3>& size) {
  std::array<std::uint64_t, 3> low = size, high{};
  std::size_t v = 0;
  for (std::uint64_t z = 0; z < size[2]; ++z)
    for (std::uint64_t y = 0; y < size[1]; ++y)
      for (std::uint64_t x = 0; x < size[0]; ++x, ++v) {
        if (inside[v] == 0) continue;
        const std::array<std::uint64_t, 3> at{x, y, z};
        for (std::size_t d = 0; d < 3; ++d) {
          low[d] = std::min(low[d], at[d]);
          high[d] = std::max(high[d], at[d] + 1);
        }
      }
  if (high[0] == 0) return {{}, size};
  image_box box;
  for (std::size_t d = 0; d < 3; ++d) {
    box.first[d] = low[d] / connect::block_side * connect::block_side;
    box.size[d] = high[d] - box.first[d];
  }
  return box;
}

tensor_field::tensor_image cropped(const tensor_field::tensor_image& image, const image_box& box) {
  tensor_field::tensor_image part;
  part.size = box.size;
  part.axes_mm = image.axes_mm;
  part.origin_mm = image.origin_mm;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      part.origin_mm[i] += image.axes_mm[3 * i + d] * static_cast<double>(box.first[d]);
  part.tensor = cropped(image.tensor, image.size, box, 6);
  part.inside = cropped(image.inside, image.size, box);
  return part;
}

}  // namespace voxherd
