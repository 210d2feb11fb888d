#pragma once

#include "kernels/track/tally.hpp"

namespace voxherd::track {

/// Steps of all streamlines when they were first drawn.
struct walked {
  static constexpr count_array table[] = {
      {"walked", element_type::uint64, counted_by::group, "1", "steps of all streamlines"}};

  VOXHERD_FUNCTION static void count(const counts_of<walked>& to, const walked_steps& walk) {
    to.add<"walked">(walk.group, walk.steps);
  }

  static const tally_output output;
};

}  // namespace voxherd::track
