#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/perfusion/time_course.hpp"
#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

/// Unit of concentrations: mM, HU, or "input".
std::string concentration_unit(const perfusion::conversion& convert);

/// What rank 0 has found in the series before the fit; the same on every rank.
struct perfusion_findings {
  perfusion::time_course frames;  ///< inputs divided by 1 - haematocrit, interpolated at frames that are not fitted
  perfusion::conversion convert;
  std::vector<double> tissue;    ///< the mean curve of the mask, or of --delay-roi: concentration at each frame
  nlohmann::json configuration;  ///< settings found from the data: baseline, skipped frames

  static constexpr auto members() {
    using T = perfusion_findings;
    return std::tuple(&T::frames, &T::convert, &T::tissue, &T::configuration);
  }
};

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
