#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/portable/function.hpp"
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

/// The masks that a half may enter and pass, but not leave; one bit each. A half that starts inside one may leave it
/// once.
class mask_exits {
 public:
  VOXHERD_FUNCTION void begin(std::uint32_t at_start) {
    excused_ = at_start;
    entered_ = 0;
  }

  /// Moves to a point that is in the masks `here`. Returns false if it has left one.
  VOXHERD_FUNCTION bool move(std::uint32_t here) {
    if ((entered_ & ~here) != 0) return false;
    excused_ &= here;
    entered_ |= here & ~excused_;
    return true;
  }

 private:
  std::uint32_t excused_ = 0;  ///< masks in which the half has been since its start
  std::uint32_t entered_ = 0;
};

/// An integer below `count`, from 32 random bits.
VOXHERD_FUNCTION inline std::uint32_t pick(std::uint32_t word, std::uint32_t count) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(word) * count >> 32);
}

/// Number of the fibre of a sample that the first step of a half follows.
VOXHERD_FUNCTION inline int choose_first(const packed_fibre* fibres, const walk_settings& how, std::uint32_t word) {
  assert(how.fibres > 0 && how.start_fibre <= how.fibres);
  if (how.start_fibre > 0) return how.start_fibre - 1;
  if (how.fibres == 1 || how.first == first_fibre::strongest) return 0;
  if (how.first == first_fibre::any) return static_cast<int>(pick(word, static_cast<std::uint32_t>(how.fibres)));
  const auto weight = [&](int k) -> std::uint32_t {
    if (fibres[k].fraction <= how.min_fraction) return 0;
    return how.first == first_fibre::weighted ? fibres[k].fraction : 1;
  };
  std::uint32_t total = 0;
  for (int k = 0; k < how.fibres; ++k) total += weight(k);
  std::uint32_t left = pick(word, total);
  for (int k = 0; k < how.fibres; ++k) {
    const std::uint32_t own = weight(k);
    if (left < own) return k;
    left -= own;
  }
  return 0;
}

/// The fibre that is closest to the direction of travel among those above the threshold.
VOXHERD_FUNCTION inline packed_fibre choose_closest(const packed_fibre* fibres, const walk_settings& how,
                                                    const direction& travel) {
  packed_fibre closest = fibres[0];
  std::int32_t largest = -1;
  for (int k = 0; k < how.fibres; ++k) {
    const packed_fibre fibre = fibres[k];
    const std::int32_t product = dot(fibre.axis(), travel), size = product < 0 ? -product : product;
    if (fibre.fraction > how.min_fraction && size > largest) closest = fibre, largest = size;
  }
  return closest;
}

/// The fibre that the next step of a half follows.
VOXHERD_FUNCTION inline packed_fibre choose_fibre(const packed_fibre* fibres, const walk_settings& how, bool first,
                                                  const direction& travel, std::uint32_t word) {
  return first ? fibres[choose_first(fibres, how, word)] : choose_closest(fibres, how, travel);
}

/// The unit direction between two, the second one turned to the side of the first. The same on every device: one
/// rounding of a product that is given explicitly.
VOXHERD_FUNCTION inline direction mean_direction(const direction& a, const direction& b) {
  const bool opposite = dot(a, b) < 0;
  const std::int32_t sum[3] = {opposite ? a.x - b.x : a.x + b.x, opposite ? a.y - b.y : a.y + b.y,
                               opposite ? a.z - b.z : a.z + b.z};
  std::int64_t square = 0;
  for (const std::int32_t s : sum) square += static_cast<std::int64_t>(s) * s;
  const double scale = direction_unit / sqrt(static_cast<double>(square));
  const auto rounded = [scale](std::int32_t s) {
    return static_cast<std::int32_t>(floor(fma(static_cast<double>(s), scale, 0.5)));
  };
  return {rounded(sum[0]), rounded(sum[1]), rounded(sum[2])};
}

}  // namespace voxherd::track
