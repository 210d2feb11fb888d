#pragma once

#include "kernels/track/tally.hpp"

namespace voxherd::track {

/// Streamlines of each seed that reach each region or target.
struct hits {
  static constexpr count_array table[] = {
      {"hits", element_type::uint32, counted_by::column, "1", "accepted streamlines to each region or target"}};

  VOXHERD_FUNCTION static void count(const counts_of<hits>& to, const column_visit& visit) {
    to.add<"hits">(visit.at, 1u);
  }

  static const tally_output output;
};

/// Their lengths.
struct hit_lengths {
  static constexpr count_array table[] = {
      {"hit_length", element_type::uint64, counted_by::column, "steps", "sum of their lengths to it"}};

  VOXHERD_FUNCTION static void count(const counts_of<hit_lengths>& to, const column_visit& visit) {
    to.add<"hit_length">(visit.at, static_cast<std::uint64_t>(visit.steps));
  }

  static const tally_output output;
};

}  // namespace voxherd::track
