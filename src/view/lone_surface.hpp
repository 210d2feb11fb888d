#pragma once

#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "src/show/surfaces.hpp"

namespace voxherd::view {

/// A surface that is shown without an image: its own values and those of each array of `values`, GIFTI files. Throws
/// failure (missing_input, bad_data): a file that is none, or values of another surface.
shown_surface read_lone_surface(const std::string& path, const std::vector<std::string>& values);

/// A grid around a surface, along the world's axes: voxels of 1 mm, of a large surface at most about 100 along an axis.
image_grid grid_around(const surface& mesh);

}  // namespace voxherd::view
