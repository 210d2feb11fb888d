#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/show/surfaces.hpp"

namespace voxherd::view {

/// Name, number of vertices and maps of each surface, or why it cannot be shown. Null without surfaces.
nlohmann::json describe_surfaces(const std::vector<shown_surface>& surfaces);

/// `place`: "N" for the mesh of a surface, a block with points (mm) and triangles; "N/K" for its map K, a block with
/// one number per vertex, not a number where there is none. Throws failure (usage) if there is none.
std::string send_surface(const std::vector<shown_surface>& surfaces, std::string_view place);

}  // namespace voxherd::view
