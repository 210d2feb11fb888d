#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/analyses/perfusion/inputs.hpp"

namespace voxherd {

/// Rows of all voxels that rank 0 examines before the fit: frames, then conversion::extras().
struct looked_rows {
  std::vector<std::uint64_t> voxels;  ///< increasing
  std::vector<float> rows;
  std::size_t stride = 0;
};

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
