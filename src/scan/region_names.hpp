#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace voxherd {

/// Names of `labels` from a text file with one label and name per line, separated by a tab, else by a comma or
/// semicolon, else by blanks; names may be quoted, and further columns are ignored. With blanks, the name is the rest
/// of the line, or its first word if the line ends in a number (FreeSurfer's and MRtrix's tables). A header line names
/// the columns: `index` or `label`, and `name` (BIDS's dseg.tsv, voxherd's nodes.tsv; `label` if it has both). Lines
/// that start with # are skipped. The name of a label without a line is its number, with a warning; so are names that
/// several labels have. Throws failure (missing_input, bad_data): a line without number or name, a label given twice,
/// none of `labels` in the file.
std::vector<std::string> read_region_names(const std::string& path, const std::vector<std::int32_t>& labels);

}  // namespace voxherd
