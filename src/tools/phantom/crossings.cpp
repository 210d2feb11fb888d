#include "src/tools/phantom/crossings.hpp"

#include <cmath>
#include <numbers>
#include <random>

namespace voxherd {

namespace {

using matrix = std::array<direction3, 3>;

/// Uniform over all rotations (Shoemake, Graphics Gems III, 1992): a random unit quaternion.
matrix random_rotation(std::uint64_t key) {
  std::mt19937_64 draw(key);
  const auto uniform = [&] { return static_cast<double>(draw() >> 11) * 0x1p-53; };
  const double part = uniform(), first = 2 * std::numbers::pi * uniform(), second = 2 * std::numbers::pi * uniform();
  const double a = std::sqrt(1 - part), b = std::sqrt(part);
  const double x = a * std::sin(first), y = a * std::cos(first), z = b * std::sin(second), w = b * std::cos(second);
  return {{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
           {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
           {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
}

/// Directions on a cone around z, spread evenly, so that any two have the same angle: cos(angle) = cos2 + sin2 cos(2 pi
/// / count), with the squares of the cone's half angle.
direction3 cone_direction(std::size_t fibre, std::size_t count, double degrees) {
  if (count == 1) return {0, 0, 1};
  const double turn = 2 * std::numbers::pi / static_cast<double>(count);
  const double sin2 = (1 - std::cos(degrees * std::numbers::pi / 180)) / (1 - std::cos(turn));
  const double across = std::sqrt(sin2), around = turn * static_cast<double>(fibre);
  return {across * std::cos(around), across * std::sin(around), std::sqrt(std::fmax(0, 1 - sin2))};
}

}  // namespace

crossings::crossings(std::array<std::uint64_t, 3> size, std::vector<double> degrees, std::size_t fibres)
    : size_(size), degrees_(std::move(degrees)), fibres_(fibres) {}

tissue crossings::at(std::uint64_t voxel) const {
  const std::uint64_t slice = voxel / (size_[0] * size_[1]);
  const double degrees = degrees_[slice * degrees_.size() / size_[2]];
  const matrix turned = random_rotation(voxel);
  tissue t;
  t.inside = true;
  t.fibres = fibres_;
  t.S0 = white_matter_S0;
  t.d_mm2_per_s = white_matter_d_mm2_per_s;
  for (std::size_t j = 0; j < fibres_; ++j) {
    t.fraction[j] = largest_fractions[fibres_ - 1][j];
    const direction3 v = cone_direction(j, fibres_, degrees);
    for (std::size_t c = 0; c < 3; ++c)
      t.direction[j][c] = turned[c][0] * v[0] + turned[c][1] * v[1] + turned[c][2] * v[2];
  }
  return t;
}

}  // namespace voxherd
