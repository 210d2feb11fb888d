#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/tools/bids/bids_name.hpp"

namespace voxherd {

/// Values that an entity may have; "" stands for a name without it.
using entity_filter = std::map<std::string, std::vector<std::string>>;

/// Which files of a data set are used: of --bids-filter-file, by kind of file ("dwi", "mask", "dseg").
class bids_filter {
 public:
  bids_filter() = default;
  /// `path`, for messages. Throws failure (bad_data).
  bids_filter(const std::string& path, const std::string& text);

  bool accepts(const std::string& kind, const bids_name& name) const;

 private:
  std::map<std::string, entity_filter> filters_;
};

}  // namespace voxherd
