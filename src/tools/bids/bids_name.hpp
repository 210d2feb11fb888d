#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace voxherd {

/// A file name of BIDS: entities, suffix and extension, such as sub-01_run-2_dwi.nii.gz.
struct bids_name {
  std::vector<std::pair<std::string, std::string>> entities;  ///< in the order of the name
  std::string suffix, extension;

  /// The value of an entity; "" if the name does not have it.
  std::string value(const std::string& entity) const;
  /// "sub-01_run-2"; without the entities in `left_out`.
  std::string stem(const std::vector<std::string>& left_out = {}) const;
};

/// Empty if the name does not have the form of BIDS.
std::optional<bids_name> parse_bids_name(const std::string& file_name);

/// Whether each entity of `part` except those in `left_out` has the same value in `name`.
bool has_entities(const bids_name& name, const bids_name& part, const std::vector<std::string>& left_out = {});

}  // namespace voxherd
