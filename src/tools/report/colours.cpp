#include "src/tools/report/colours.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace voxherd::report {

namespace {

// Viridis at nine places, linear between them.
constexpr std::array<colour, 9> viridis{{{68, 1, 84},
                                         {71, 44, 122},
                                         {59, 81, 139},
                                         {44, 113, 142},
                                         {33, 144, 141},
                                         {39, 173, 129},
                                         {92, 200, 99},
                                         {170, 220, 50},
                                         {253, 231, 37}}};

std::uint8_t as_byte(double value) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0))); }

}  // namespace

colour map_colour(colour_map map, double t) {
  t = std::clamp(t, 0.0, 1.0);
  if (map == colour_map::grey) return {as_byte(t), as_byte(t), as_byte(t)};
  const double place = t * (viridis.size() - 1);
  const auto i = std::min<std::size_t>(static_cast<std::size_t>(place), viridis.size() - 2);
  colour c{};
  for (std::size_t k = 0; k < 3; ++k)
    c[k] = as_byte(std::lerp(viridis[i][k], viridis[i + 1][k], place - static_cast<double>(i)) / 255);
  return c;
}

colour direction_colour(const std::array<double, 3>& unit, double brightness) {
  colour c{};
  for (std::size_t k = 0; k < 3; ++k) c[k] = as_byte(std::fabs(unit[k]) * std::clamp(brightness, 0.0, 1.0));
  return c;
}

colour code_colour(std::size_t i) {
  constexpr std::array<colour, 8> list{{{230, 159, 0},
                                        {86, 180, 233},
                                        {0, 158, 115},
                                        {240, 228, 66},
                                        {0, 114, 178},
                                        {213, 94, 0},
                                        {204, 121, 167},
                                        {255, 255, 255}}};
  return list[i % list.size()];
}

std::string css_colour(colour c) { return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]); }

}  // namespace voxherd::report
