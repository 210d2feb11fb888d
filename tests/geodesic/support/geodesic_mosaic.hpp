#pragma once

#include <functional>

#include "tests/geodesic/reference/geodesic_case.hpp"

/// Regions for tests of the geodesic tracker.
namespace voxherd::reference {

/// Bits for every voxel of a grid.
inline std::vector<std::uint32_t> painted(const sampling_grid& grid,
                                          const std::function<std::uint32_t(long x, long y, long z)>& bits) {
  std::vector<std::uint32_t> words;
  for (long z = 0; z < long(grid.size[2]); ++z)
    for (long y = 0; y < long(grid.size[1]); ++y)
      for (long x = 0; x < long(grid.size[0]); ++x) words.push_back(bits(x, y, z));
  return words;
}

constexpr std::uint32_t target_bits(std::uint32_t number) {
  return tensor_field::region::inside | number << tensor_field::region::target_shift;
}
constexpr std::uint32_t include_bits(std::uint32_t number) {
  return tensor_field::region::inside | tensor_field::region::first_include << number;
}

/// Small tiles of every kind of region, including two inclusion regions and five targets, on an oblique grid.
inline const sampling_grid mosaic_grid{
    {36, 34, 30}, {{{1.6, 0.2, 0.1}, {-0.25, 1.7, 0}, {0.05, 0.1, 2.0}}}, {3, 2, -4}};

inline std::vector<std::uint32_t> mosaic() {
  return painted(mosaic_grid, [](long x, long y, long z) {
    const long kind = (x / 4 + 3 * (y / 4) + 5 * (z / 3)) % 23;
    if (kind == 0) return tensor_field::region::inside | tensor_field::region::exclude;
    if (kind == 1) return 0u;
    if (kind == 2 || kind == 9) return include_bits(0);
    if (kind == 3 || kind == 12) return include_bits(1);
    if (kind == 4) return target_bits(1 + std::uint32_t(z) % 3);
    if (kind == 6) return 700u << tensor_field::region::target_shift;  // these two are outside the mask
    if (kind == 7) return +tensor_field::region::first_include;
    if (kind == 5) return target_bits(900) | tensor_field::region::first_include;
    return +tensor_field::region::inside;
  });
}

/// A helix with a little noise: rays bend and energy drifts.
inline tensor_field::tensor_image mosaic_image() {
  auto image = sampled(helix_field(1.5e-3, 0.4e-3, 8, {30, 28, 0}), mosaic_grid);
  add_log_noise(image, 0.05, 17);
  return image;
}

}  // namespace voxherd::reference
