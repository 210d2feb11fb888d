#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace voxherd {

/// The name of each of `labels` from a text file: label and name a line, separated by white space, commas or tabs, what
/// follows ignored (FreeSurfer's and MRtrix's tables, too); lines that begin with # are skipped, a name may be quoted.
/// A label without a line is named by its number, with a warning. Throws failure (missing_input, bad_data): a line
/// without number or name, a label twice, none of `labels` in the file.
std::vector<std::string> read_region_names(const std::string& path, const std::vector<std::int32_t>& labels);

}  // namespace voxherd
