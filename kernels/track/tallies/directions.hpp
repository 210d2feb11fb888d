#pragma once

#include "kernels/track/tally.hpp"

namespace voxherd::track {

/// xx, yy, zz, xy, xz, yz.
constexpr int direction_products = 6;
constexpr int product_shift = 6;  ///< bits of a product that are left out, so that 2^39 of them can be added

/// A signed product of two components of directions as a term of a sum modulo 2^64.
VOXHERD_FUNCTION inline std::uint64_t to_sum(std::int32_t product) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>((product + (1 << (product_shift - 1))) >> product_shift));
}

/// Directions of the streamlines in each place, as products of their components: a direction and its opposite give the
/// same.
struct directions {
  static constexpr count_array table[] = {{"directions", element_type::uint64, counted_by::place, "1",
                                           "sums of products of components", direction_products}};

  VOXHERD_FUNCTION static void count(const counts_of<directions>& to, const place_direction& visit) {
    std::uint64_t* const sums = to.values<"directions">();
    if (sums == nullptr) return;
    const direction& d = visit.travel;
    const std::int32_t products[direction_products] = {d.x * d.x, d.y * d.y, d.z * d.z,
                                                       d.x * d.y, d.x * d.z, d.y * d.z};
    for (int i = 0; i < direction_products; ++i) add(sums + visit.at * direction_products + i, to_sum(products[i]));
  }

  static const tally_output output;
};

}  // namespace voxherd::track
