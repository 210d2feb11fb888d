#pragma once

#include <string>
#include <vector>

#include "mpi/run/run.hpp"
#include "src/analyses/perfusion/tissue_fit.hpp"

namespace voxherd {

/// In the folder of a result NAME.h5, by rank 0: NAME.curves.csv (time, both inputs, which frames are fitted, the mean
/// tissue curve and its fit; --curves reads it) and NAME.curves.svg, a plot of the same. Files of a stopped run that is
/// resumed stay as they are. Returns the files that it made. Throws failure if a file exists and is not to be
/// overwritten (usage), is an input (usage) or cannot be written (disk).
std::vector<std::string> write_curve_files(const run_settings& how, const perfusion_settings& o,
                                           const perfusion_findings& found, const tissue_fit& tissue);

/// The check for files that would be replaced, before the inputs are read.
void check_curve_files(const run_settings& how);

/// "NAME.curves" of a result.
std::string curve_stem(const std::string& result);

}  // namespace voxherd
