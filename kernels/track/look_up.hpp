#pragma once

#include "kernels/track/field.hpp"

namespace voxherd::track {

/// Random bits as a number in [0, 1), exact.
VOXHERD_FUNCTION inline float to_share(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 5.9604644775390625e-8f;
}

VOXHERD_FUNCTION inline std::int32_t nearest_voxel(float position) {
  return static_cast<std::int32_t>(lane::floor(position + 0.5f));
}

/// A voxel of the samples' image; outside it one that no streamline reaches.
VOXHERD_FUNCTION inline voxel_info look_up(const field_view& field, std::int32_t x, std::int32_t y, std::int32_t z) {
  const bool in_image = x >= 0 && y >= 0 && z >= 0 && x < field.size[0] && y < field.size[1] && z < field.size[2];
  if (!in_image) return {-1, 0};
  const auto row = static_cast<std::size_t>(z) * static_cast<std::size_t>(field.size[1]) + static_cast<std::size_t>(y);
  return field.voxels[row * static_cast<std::size_t>(field.size[0]) + static_cast<std::size_t>(x)];
}

}  // namespace voxherd::track
