#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace voxherd::report {

using colour = std::array<std::uint8_t, 3>;

/// Pixels row by row from the top, black at first.
struct rgb_image {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;

  rgb_image() = default;
  rgb_image(std::size_t w, std::size_t h) : width(w), height(h), rgb(3 * w * h) {}
  void set(std::size_t x, std::size_t y, colour c) {
    for (std::size_t i = 0; i < 3; ++i) rgb[3 * (y * width + x) + i] = c[i];
  }
};

/// PNG file of an image; grey if all of its pixels are. Throws failure (internal_error).
std::string encode_png(const rgb_image& image);

std::string base64(std::string_view bytes);

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
