#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "mpi/run/run.hpp"
#include "src/analyses/perfusion/inputs.hpp"
#include "src/analyses/perfusion/tissue_fit.hpp"

namespace voxherd {

/// The fit of the mean tissue curve: checks that the model is sensible before any voxel is fitted; gives the delays.
struct tissue_fit {
  bool fitted = false;
  std::vector<double> values, deviations;  ///< of the model's parameters, in the units of maps
  double r_squared = 0;
  std::uint8_t at_bound = 0;  ///< bit i: parameter i
  std::vector<double> curve;  ///< at each frame; empty if not fitted

  static constexpr auto members() {
    using T = tissue_fit;
    return std::tuple(&T::fitted, &T::values, &T::deviations, &T::r_squared, &T::at_bound, &T::curve);
  }
};

/// Rank 0 fits by Levenberg-Marquardt from several starts on one CPU thread, with the discretisation and the rules of
/// the voxels. Logs the result.
tissue_fit fit_tissue(const perfusion_settings& o, const perfusion_findings& found);

/// Two-stage delays: the voxels get those of the mean curve, fixed or as the centre of a window. Throws failure
/// (bad_data) if the mean curve could not be fitted.
void take_delays(const tissue_fit& fit, perfusion_settings& o);

/// In the folder of a result NAME.h5, by rank 0: NAME.curves.csv (time, both inputs, which frames are fitted, the mean
/// tissue curve and its fit; --curves reads it). The file of a stopped run that is resumed stays as it is. Returns the
/// file if it is new, else "". Throws failure if it exists and is not to be overwritten (usage), is an input (usage) or
/// cannot be written (disk).
std::string write_curve_file(const run_settings& how, const perfusion_findings& found, const tissue_fit& tissue);

/// The check for a file that would be replaced, before the inputs are read.
void check_curve_file(const run_settings& how);

/// "NAME.curves.csv" of a result.
std::string curve_path(const std::string& result);

}  // namespace voxherd
