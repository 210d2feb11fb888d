#pragma once

#include <string>
#include <vector>

namespace voxherd {

/// The words of a bedpostx (or xfibres) command line as options of `voxherd bedpostx`: -n 3 or --nf=3 becomes
/// --fibres=3. Flags that have no effect here become --no-difference=FLAG; words unknown to FSL are kept.
/// Throws failure (usage) for a flag of FSL that voxherd does not support, or one without its value.
std::vector<std::string> from_bedpostx(const std::vector<std::string>& words);

/// A section of the help: FSL's flags and the options that they stand for.
std::string list_bedpostx_flags();

}  // namespace voxherd
