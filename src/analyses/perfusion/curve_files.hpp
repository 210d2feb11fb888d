#pragma once

#include <string>

#include "src/analyses/perfusion/tissue_fit.hpp"

namespace voxherd {

/// In the folder of a result NAME.h5, by rank 0: NAME.curves.csv (time, both inputs, which frames are fitted, the mean
/// tissue curve and its fit; --curves reads it) and NAME.curves.svg, a plot of the same. Throws failure (disk).
void write_curve_files(const std::string& result, const perfusion_settings& o, const perfusion_findings& found,
                       const tissue_fit& tissue);

/// "NAME.curves" of a result.
std::string curve_stem(const std::string& result);

}  // namespace voxherd
