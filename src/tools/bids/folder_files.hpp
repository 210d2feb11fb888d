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
};

/// Files with names of BIDS, sorted; none if the folder does not exist.
std::vector<named_file> list_bids_files(const std::filesystem::path& folder);

/// Folders whose names begin with `prefix`, sorted.
std::vector<std::filesystem::path> list_folders(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace voxherd
