#pragma once

#include <cstdint>
#include <vector>

#include "src/analyses/perfusion/input_curves.hpp"
#include "src/analyses/perfusion/inputs.hpp"

namespace voxherd {

/// Voxels of the regions whose mean signal is used.
struct looked_regions {
  std::vector<std::uint64_t> arterial, portal;  ///< empty if the curve is a table, or there is none
  std::vector<std::uint64_t> tissue;
};

/// Finds, on rank 0, frames without data, the baseline, both input curves and the mean tissue curve, all logged.
/// `found` has times, counts and the conversion without a baseline. Throws failure (bad_data, usage, missing_input).
void find_in_series(const perfusion_settings& o, const looked_rows& looked, const looked_regions& regions,
                    perfusion_findings& found);

}  // namespace voxherd
