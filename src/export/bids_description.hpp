#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/export/export_plan.hpp"

namespace voxherd {

inline constexpr auto bids_version = "1.11.1";

/// Source files that are in BIDS data sets, and these data sets.
struct bids_sources {
  std::vector<std::string> uris;             ///< "bids:raw:sub-01/dwi/sub-01_dwi.nii.gz", sorted
  std::map<std::string, std::string> links;  ///< DatasetLinks: name and place of each data set
};

/// The BIDS data set of `out` is named "", others by their folder's name.
bids_sources find_bids_sources(const std::vector<std::string>& paths, const std::string& out);

/// All paths of input files in a result's provenance, in their order.
std::vector<std::string> input_paths(const nlohmann::json& provenance);

/// dataset_description.json, .bidsignore and README.md. They are shared by all exports to a folder: links to other data
/// sets are added to an existing description.
std::vector<export_text> describe_bids_data_set(const bids_sources& sources);

}  // namespace voxherd
