#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/scan/label_image.hpp"

namespace voxherd {

/// Names of `labels` from a text, recognised by its structure or by the words of its first line:
/// - one label and name per line, separated by a tab, else by a comma or semicolon, else by blanks; names may be
/// quoted.
///   Columns of numbers between label and name or behind the name are ignored (ITK-SNAP, FSLeyes, FreeSurfer, MRtrix);
/// - columns that the first line names, in any order: a label (`label`, `index`, `id` and others) and a `name` (or
///   `region`, `structure` and others), separated by tabs, commas or semicolons (BIDS's dseg.tsv, voxherd's nodes.tsv,
///   Allen's and brainglobe's CSV); `label` if it has that and `index`;
/// - a name, or a short and a long name, and then the label (AAL);
/// - a line with a name, then one with its key and a colour (Workbench).
/// Lines that start with # are skipped. The name of a label without a line is its number, with a warning; so are names
/// that several labels have. Throws failure (missing_input, bad_data): a line without number or name or not in UTF-8,
/// two names for one of `labels`, none of `labels` in the file.
std::vector<std::string> read_region_names(const std::string& path, const std::vector<std::int32_t>& labels);

/// All names of such a text, by increasing label. Throws failure (missing_input, bad_data).
std::vector<std::string> list_region_names(const std::string& path);

/// Adds the labels above 0 that a table of names has and the image lacks, with a warning: the matrices of all subjects
/// have the same rows. Not if more than half of the table's labels are missing: then it lists all labels that an atlas
/// or a program knows, as FreeSurferColorLUT.txt does, or belongs to another image. `table`: "" for none; `wanted`:
/// only these labels, increasing (empty: all). Throws failure (missing_input, bad_data).
void keep_named_regions(const std::string& table, const std::vector<std::int32_t>& wanted, label_image& image);

}  // namespace voxherd
