#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "src/tools/bids/bids_name.hpp"

namespace voxherd {

struct named_file {
  std::string path;
  bids_name name;
  bool is_anatomical = false;  ///< in a folder anat
  std::string root = {};       ///< its data set
};

/// Files with names of BIDS, sorted; none if the folder does not exist.
std::vector<named_file> list_bids_files(const std::filesystem::path& folder);

/// Files that apply to the series by the inheritance principle: the same suffix and no other entities, in its folder or
/// one above it up to `root`; the nearest folder first. Within a folder the file with the most entities first.
std::vector<std::string> list_inherited(const std::filesystem::path& root, const std::filesystem::path& folder,
                                        const bids_name& series, const std::string& extension);

/// Whether the name is that of a NIfTI image.
bool is_image(const bids_name& name);

/// A small text file. Throws failure (missing_input).
std::string read_text(const std::string& path);

/// Folders whose names begin with `prefix`, sorted.
std::vector<std::filesystem::path> list_folders(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace voxherd
