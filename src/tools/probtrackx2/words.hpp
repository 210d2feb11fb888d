#pragma once

#include <string>
#include <vector>

namespace voxherd {

/// The words of a probtrackx2 command line as options of `voxherd probtrackx2`: -P 500 or --nsamples=500 becomes
/// --samples-per-seed=500. Options of voxherd that FSL does not have are kept. Throws failure (usage) for an option of
/// FSL that voxherd does not support, one without its value, one that is given twice, and for other words.
std::vector<std::string> from_probtrackx2(const std::vector<std::string>& words);

/// A section of the help: FSL's options and ours.
std::string list_probtrackx2_flags();

}  // namespace voxherd
