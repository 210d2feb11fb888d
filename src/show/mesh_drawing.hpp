#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "src/io/surfaces/surfaces.hpp"
#include "src/show/colours.hpp"

namespace voxherd::report {

/// From where a surface is seen: axes of the world (0: right, 1: front, 2: up) across the picture and upwards in it.
struct mesh_side {
  const char* name;
  int across, up;
  int sign;  ///< of `across`: -1 if it runs to the left of the picture
};

/// A picture of a surface, and where it is in the world.
struct mesh_picture {
  rgb_image image;
  double left_mm = 0, top_mm = 0, mm_per_pixel = 1;  ///< along `across` and `up`, of the picture's upper left corner
};

/// The colour of a place in a triangle, from the weights of its corners.
using mesh_colours =
    std::function<colour(const std::array<std::uint32_t, 3>& corners, const std::array<double, 3>& weights)>;

/// Draws what is seen of a surface, `longest` pixels wide or high. Triangles that face the viewer have their colours,
/// others are darker. Around the surface is black.
mesh_picture draw_mesh(const surface& mesh, const mesh_side& side, std::size_t longest, const mesh_colours& colours);

}  // namespace voxherd::report
