#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace voxherd::view {

/// Which of a result's fibres the page asks for.
struct fibre_choice {
  std::uint64_t count = 0;                  ///< at most so many, evenly spread; 0: all
  std::vector<std::int32_t> include;        ///< labels of regions that a fibre touches, all of them
  std::vector<std::int32_t> exclude;        ///< labels of regions that it does not touch
  std::optional<std::uint64_t> grouping;    ///< its number
  std::vector<std::uint32_t> hidden;        ///< groups of that grouping that are off
  std::string measure;                      ///< "": any value of any measure
  std::optional<double> at_least, at_most;  ///< values of the measure
};

/// From the JSON that the page sends. Throws failure (usage) for anything else.
fibre_choice parse_fibre_choice(std::string_view json);

}  // namespace voxherd::view
