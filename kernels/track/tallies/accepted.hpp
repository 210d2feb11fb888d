#pragma once

#include "kernels/track/tally.hpp"

namespace voxherd::track {

/// Accepted streamlines of each seed.
struct accepted {
  static constexpr count_array table[] = {
      {"accepted", element_type::uint32, counted_by::seed, "1", "accepted streamlines of each seed of the group"}};

  VOXHERD_FUNCTION static void count(const counts_of<accepted>& to, const acceptance& streamline) {
    to.add<"accepted">(streamline.seed, 1u);
  }

  static const tally_output output;
};

}  // namespace voxherd::track
