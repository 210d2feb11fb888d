#pragma once

#include <array>
#include <vector>

#include "src/analyses/perfusion/inputs.hpp"

namespace voxherd {

/// The fit of the mean tissue curve: checks that the model is sensible before any voxel is fitted; gives the delays.
struct tissue_fit {
  bool fitted = false;
  std::array<double, perfusion::parameter_count> values{};  ///< ml/100 g/min, s
  std::array<double, perfusion::parameter_count> deviations{};
  double r_squared = 0;
  std::uint8_t at_bound = 0;  ///< bit i: parameter i
  std::vector<double> curve;  ///< at each frame; empty if not fitted
};

/// By rank 0: Levenberg-Marquardt fit from several starts on one CPU thread, with the discretisation and the rules of
/// the voxels. Logs the result.
tissue_fit fit_tissue(const perfusion_settings& o, const perfusion_findings& found);

/// Two-stage delays: the voxels get those of the mean curve, fixed or as the centre of a window. Throws failure
/// (bad_data) if the mean curve could not be fitted.
void take_delays(const tissue_fit& fit, perfusion_settings& o);

}  // namespace voxherd
