#pragma once

#include "kernels/track/tally.hpp"

namespace voxherd::track {

/// Lengths of the streamlines from the seed to their first visit of each place.
struct lengths {
  static constexpr count_array table[] = {
      {"length", element_type::uint64, counted_by::place, "steps", "sum of the lengths from the seed"}};

  VOXHERD_FUNCTION static void count(const counts_of<lengths>& to, const place_visit& visit) {
    to.add<"length">(visit.at, static_cast<std::uint64_t>(visit.steps));
  }

  static const tally_output output;
};

}  // namespace voxherd::track
