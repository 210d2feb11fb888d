#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd::view {

/// Largest number of groups of a grouping; rarer groups are joined in one more.
inline constexpr std::uint32_t max_fibre_groups = 1000;

/// The fibres of a result in groups that can be switched on and off. A fibre is in one or two groups: both halves of a
/// streamline may reach a region.
struct fibre_grouping {
  static constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();

  std::string name;
  std::vector<std::string> group;                      ///< names, the group with the most fibres first
  std::vector<std::uint64_t> fibres;                   ///< number in each group
  std::vector<std::array<std::uint32_t, 2>> of_fibre;  ///< groups of each of `items`; no_group: only one, the first
};

/// Groups paths by pair of regions and by the region where they start, if the result has them. `names`: names of
/// labels, where known.
std::vector<fibre_grouping> group_fibres(const result_reader& r, const std::vector<std::uint64_t>& items,
                                         const std::map<std::int32_t, std::string>& names);

/// Names of groupings and groups, and the number of fibres of each group.
nlohmann::json describe_groupings(const std::vector<fibre_grouping>& groupings);

}  // namespace voxherd::view
