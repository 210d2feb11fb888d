#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/show/colours.hpp"
#include "src/show/draft.hpp"

namespace voxherd::report {

/// How a map is shown. Without a window: from 0, or from the 5th percentile of a map with negative values, to the 95th.
/// A map with the same value everywhere is a sentence.
struct map_look {
  colour_map map = colour_map::grey;
  std::optional<double> first = {}, last = {};
  std::string note = {};      ///< how to read it, one sentence
  bool is_count = false;      ///< colours follow log(1 + count), and 0 is dark grey
  bool zero_is_none = false;  ///< 0 is dark grey: nothing was measured there
};

/// Where a map's colours begin and end.
struct colour_range {
  const map_look& look;
  double first, last;

  colour at(double value) const;
  /// The bar, with the numbers at its ends and, for counts, in its middle. `places`: what has values.
  std::string bar(const std::string& unit, const char* places = "voxels") const;
};
/// The range of a map's values, where the look gives none.
colour_range choose_range(const map_look& look, const distribution& q);

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
/// The largest values of a map along the three axes: seen from above, from the right and from behind.
void add_maximum_views(draft& d, const std::string& name, const map_look& look);
/// Distribution of an output between two numbers, or between its percentiles.
void add_histogram(draft& d, const std::string& name, std::optional<double> first = {},
                   std::optional<double> last = {});

/// A bar with the colours of a map and the numbers at its ends.
std::string colour_bar(colour_map map, double first, double last, const std::string& unit);

/// Letters at the left and the right side of a picture.
std::string side_marks(const std::array<const char*, 2>& letters);
std::string side_marks(const grid_view& view, int across);
/// The same for slices, and their positions in mm.
std::string mosaic_marks(const mosaic& m, const grid_view& view);

/// The element of a picture. `height_per_width`: of a pixel. A picture of a group is not higher than the others.
/// `marks`: elements on top of it.
std::string image_markup(const rgb_image& image, const std::string& description, double height_per_width, bool smooth,
                         bool is_in_group = false, const std::string& marks = "");

/// Adds the fullest slice of the mosaic, enlarged, with a stick for each direction, coloured by it, over a map
/// that is grey up to `brightest`. `fibres`: outputs of directions and of their volume fractions; sticks of less than
/// `min_fraction` are left out.
void add_sticks(draft& d, const std::string& background, double brightest,
                const std::vector<std::pair<std::string, std::string>>& fibres, double min_fraction);

}  // namespace voxherd::report
