#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/tools/bids/bids_name.hpp"

namespace voxherd {

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
