#pragma once

#include <filesystem>
#include <map>
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

struct named_file {
  std::string path;
  bids_name name;
  bool is_anatomical = false;  ///< in a folder anat
  std::string root = {};       ///< its data set
};

/// Files with names of BIDS, sorted; none if the folder does not exist.
std::vector<named_file> list_bids_files(const std::filesystem::path& folder);

/// Whether the name is that of a NIfTI image.
bool is_image(const bids_name& name);

/// Folders whose names begin with `prefix`, sorted.
std::vector<std::filesystem::path> list_folders(const std::filesystem::path& folder, const std::string& prefix);

/// The label of a folder sub-LABEL; "" with a warning if BIDS does not allow it.
std::string subject_label(const std::filesystem::path& folder);

/// Values that an entity may have; "" stands for a name without it.
using entity_filter = std::map<std::string, std::vector<std::string>>;

/// Which files of a data set are used: of --bids-filter-file, by kind of file ("dwi", "mask", "dynamic", ...).
class bids_filter {
 public:
  bids_filter() = default;
  /// `path`, for messages. Throws failure (bad_data).
  bids_filter(const std::string& path, const std::string& text);

  bool has(const std::string& kind) const { return filters_.contains(kind); }
  /// The entities that a kind is chosen by; none for kinds that are not in the filter.
  std::vector<std::string> entities(const std::string& kind) const;
  /// `datatype`: the file's folder; "" if that follows from the kind.
  bool accepts(const std::string& kind, const bids_name& name, const std::string& datatype = "") const;

 private:
  std::map<std::string, entity_filter> filters_;
};

}  // namespace voxherd
