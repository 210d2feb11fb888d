#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "src/batch/bids/dataset_files.hpp"

namespace voxherd {

/// A file that may belong to an image: gradients, a mask, a parcellation, a table or a sidecar.
struct companion_file {
  std::string path;
  int distance = 0;          ///< of its folder from the image; 0 for the nearest
  std::size_t entities = 0;  ///< that it has in common with the image
};

/// Number of entities that two names have in common.
std::size_t count_common_entities(const bids_name& a, const bids_name& b);

/// Those that the rule prefers: of the nearest folder, in it those with the most entities in common with the image.
std::vector<companion_file> prefer_nearest(std::vector<companion_file> files);
/// The one that the rule prefers; "" for none. Throws failure (bad_data) that names both if two are equal. `what`, for
/// the message: "the mask of sub-01_dwi.nii.gz".
std::string choose_companion(const std::vector<companion_file>& files, const std::string& what);

/// Files that apply to the image by the inheritance principle: the same suffix and no other entities, in its folder or
/// one above it up to `root`. In the order of the rule.
std::vector<companion_file> list_inherited(const std::filesystem::path& root, const std::filesystem::path& folder,
                                           const bids_name& image, const std::string& extension);
/// The one that the rule prefers; "" for none. Throws as choose_companion().
std::string find_inherited(const std::filesystem::path& root, const std::filesystem::path& folder,
                           const bids_name& image, const std::string& extension);
/// All sidecars (.json), the nearest first: the values of a nearer one replace those of the others. Throws failure
/// (bad_data) that names both if two of a folder are equal.
std::vector<std::string> list_sidecars(const std::filesystem::path& root, const std::filesystem::path& folder,
                                       const bids_name& image);

}  // namespace voxherd
