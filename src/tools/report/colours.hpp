#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/tools/report/image_data.hpp"

namespace voxherd::report {

enum class colour_map { grey, viridis };

/// A colour of a map, t from 0 to 1.
colour map_colour(colour_map map, double t);

/// Red, green and blue are the parts of a direction along the three axes, times `brightness` (0 to 1).
colour direction_colour(const std::array<double, 3>& unit, double brightness);

/// Colours that people with any colour vision tell apart (Okabe and Ito), for codes.
colour code_colour(std::size_t i);

/// The colour of voxels whose value is not a finite number.
inline constexpr colour not_finite_colour{200, 0, 200};

/// "#rrggbb".
std::string css_colour(colour c);

}  // namespace voxherd::report
