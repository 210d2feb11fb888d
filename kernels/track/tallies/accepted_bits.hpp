#pragma once

#include "kernels/track/tally.hpp"

namespace voxherd::track {

/// Which streamlines are accepted, of which some are drawn again to be stored.
struct accepted_bits {
  static constexpr count_array table[] = {
      {"accepted_bits", element_type::uint32, counted_by::word, "1", "one bit per streamline: it is accepted"}};

  VOXHERD_FUNCTION static void count(const counts_of<accepted_bits>& to, const acceptance& streamline) {
    to.add<"accepted_bits">(streamline.word, 1u << streamline.bit);
  }

  static const tally_output output;
};

}  // namespace voxherd::track
