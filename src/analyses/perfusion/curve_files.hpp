#pragma once

#include <string>
#include <vector>

#include "mpi/run/run.hpp"
#include "src/analyses/perfusion/tissue_fit.hpp"

namespace voxherd {

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
