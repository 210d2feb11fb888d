#pragma once

#include "kernels/track/tally.hpp"

namespace voxherd::track {

/// Streamlines that visit each place, each counted once.
struct densities {
  static constexpr count_array table[] = {
      {"density", element_type::uint32, counted_by::place, "1", "accepted streamlines that visit each place"}};

  VOXHERD_FUNCTION static void count(const counts_of<densities>& to, const place_visit& visit) {
    to.add<"density">(visit.at, 1u);
  }

  static const tally_output output;
};

}  // namespace voxherd::track
