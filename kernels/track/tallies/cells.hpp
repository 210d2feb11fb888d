#pragma once

#include "kernels/track/tally.hpp"

namespace voxherd::track {

/// Streamlines from the seeds (rows) that visit the columns of a matrix.
struct cells {
  static constexpr count_array table[] = {
      {"cells", element_type::uint32, counted_by::cell, "1", "accepted streamlines from row to column"},
      {"cell_length", element_type::uint64, counted_by::cell, "steps", "sum of their lengths from the seed"}};

  VOXHERD_FUNCTION static void count(const counts_of<cells>& to, const cell_visit& visit) {
    to.add<"cells">(visit.at, 1u);
    to.add<"cell_length">(visit.at, static_cast<std::uint64_t>(visit.steps));
  }

  static const tally_output output;
};

}  // namespace voxherd::track
