#pragma once

#include <optional>
#include <string>

#include "src/tools/report/colours.hpp"
#include "src/tools/report/draft.hpp"

namespace voxherd::report {

/// How a map is shown. Without a window: from 0, or from the 2nd percentile of a map with negative values, to the 98th.
struct map_look {
  colour_map map = colour_map::grey;
  std::optional<double> first = {}, last = {};
  std::string note = {};  ///< how to read it, one sentence
};

// Each adds a figure to the last section, and its numbers to the page; nothing if the result has no such output. The
// texts come from the output's own description.

/// Slices of a map with one number per voxel.
void add_map(draft& d, const std::string& name, const map_look& look = {});
/// Slices of directions, coloured by them; as bright as another map, from 0 to `brightest`.
void add_directions(draft& d, const std::string& name, const std::string& brightness, double brightest,
                    const std::string& note);
/// Slices of a map of codes: those in `meanings` have colours of their own, from 1; 0 is dark.
void add_codes(draft& d, const std::string& name, const std::vector<std::pair<int, std::string>>& meanings,
               const std::string& note);
/// Distribution of an output between two numbers, or between its percentiles.
void add_histogram(draft& d, const std::string& name, std::optional<double> first = {},
                   std::optional<double> last = {});

/// A bar with the colours of a map and the numbers at its ends.
std::string colour_bar(colour_map map, double first, double last, const std::string& unit);

/// The element of a picture. `height_per_width`: of a pixel.
std::string image_markup(const rgb_image& image, const std::string& description, double height_per_width, bool smooth);

}  // namespace voxherd::report
