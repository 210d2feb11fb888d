#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace voxherd {

/// Names of `labels` from a text file: one label and name per line, separated by white space, commas or tabs. The rest
/// of a line is ignored (as in FreeSurfer's and MRtrix's tables); lines that start with # are skipped; names may be
/// quoted. The name of a label without a line is its number, with a warning. Throws failure (missing_input, bad_data):
/// a line without number or name, a label given twice, none of `labels` in the file.
std::vector<std::string> read_region_names(const std::string& path, const std::vector<std::int32_t>& labels);

}  // namespace voxherd
