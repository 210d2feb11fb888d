#pragma once

#include "kernels/track/field.hpp"

namespace voxherd::track {

/// An integer below `count`, from 32 random bits.
VOXHERD_FUNCTION inline std::uint32_t pick(std::uint32_t word, std::uint32_t count) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(word) * count >> 32);
}

/// Number of the fibre of a sample that the first step of a half follows.
VOXHERD_FUNCTION inline int choose_first(const packed_fibre* fibres, const walk_settings& how, std::uint32_t word) {
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

/// Number of the fibre that is closest to the direction of travel among those above the threshold.
VOXHERD_FUNCTION inline int choose_closest(const packed_fibre* fibres, const walk_settings& how,
                                           const direction& travel) {
  int closest = 0;
  std::int32_t largest = -1;
  for (int k = 0; k < how.fibres; ++k) {
    if (fibres[k].fraction <= how.min_fraction) continue;
    const std::int32_t product = dot(fibres[k].axis(), travel), size = product < 0 ? -product : product;
    if (size > largest) closest = k, largest = size;
  }
  return closest;
}

}  // namespace voxherd::track
