#pragma once

#include "kernels/track/settings.hpp"

namespace voxherd::track {

/// Which halves of a streamline count.
enum class half_fate : std::uint8_t {
  reject,
  wait,  ///< passed some of the waypoints; counts if the other half passes the rest
  accept,
};

/// What happened on a half.
struct half_record {
  bool avoided = false;       ///< touched a mask to avoid
  bool out_of_order = false;  ///< passed a waypoint before one that precedes it
  bool other_region = false;  ///< reached another region than the seed's
  std::int32_t steps = 0;
  std::uint32_t passed = 0;  ///< waypoints passed so far, one bit each; with those of the first half unless each_half
};

VOXHERD_FUNCTION inline half_fate judge(const half_record& half, const walk_settings& how) {
  if (half.avoided || half.steps < how.min_steps) return half_fate::reject;
  if (how.network && !half.other_region) return half_fate::reject;
  if (how.waypoints == 0) return half_fate::accept;
  if (half.passed == 0 || (how.ordered && half.out_of_order)) return half_fate::reject;
  if (how.rule == waypoint_rule::one) return half_fate::accept;
  const std::uint32_t every = (1u << how.waypoints) - 1;
  if (half.passed == every) return half_fate::accept;
  return how.each_half ? half_fate::reject : half_fate::wait;
}

/// Bit 0: the first half counts; bit 1: the second. A waiting first half counts if the second one is accepted; a second
/// one that still waits does not count.
VOXHERD_FUNCTION inline unsigned counted_halves(half_fate first, half_fate second) {
  const bool second_counts = second == half_fate::accept;
  const bool first_counts = first == half_fate::accept || (first == half_fate::wait && second_counts);
  return (first_counts ? 1u : 0u) | (second_counts ? 2u : 0u);
}

}  // namespace voxherd::track
