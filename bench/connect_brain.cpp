#include "bench/connect_brain.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd::bench {

namespace {

using vec3 = std::array<double, 3>;
using triple = std::array<int, 3>;
constexpr triple size{static_cast<int>(brain_size[0]), static_cast<int>(brain_size[1]),
                      static_cast<int>(brain_size[2])};

vec3 place_of(std::uint64_t voxel) {
  const auto x = voxel % brain_size[0], y = voxel / brain_size[0] % brain_size[1],
             z = voxel / (brain_size[0] * brain_size[1]);
  return {static_cast<double>(x) - 127.5, static_cast<double>(y) - 127.5, static_cast<double>(z) - 49.5};
}

/// 0 on the folded surface, negative inside.
double level(const vec3& p) {
  const double ellipsoid = std::hypot(p[0] / 84, p[1] / 100, p[2] / 40);
  const double folds = std::sin(p[0] / 7.5 + 0.3 * std::sin(p[1] / 13)) * std::sin(p[1] / 8.5) * std::cos(p[2] / 6.5);
  return ellipsoid - 0.92 + 0.1 * folds;
}

vec3 gradient(const vec3& p) {
  vec3 g;
  for (std::size_t d = 0; d < 3; ++d) {
    vec3 a = p, b = p;
    a[d] -= 0.5, b[d] += 0.5;
    g[d] = level(b) - level(a);
  }
  return g;
}

/// A bent plate from side to side, four voxels thick.
bool in_bridge(const vec3& p) {
  return std::abs(p[2] - 8 + p[0] * p[0] / 500) < 2 && std::abs(p[1]) < 30 && level(p) < 0;
}

bool in_sheet(const vec3& p) {
  const double at = level(p);
  if (std::abs(at) > 0.2) return false;  // far from it; avoids computing the gradient
  const vec3 g = gradient(p);
  return std::abs(at) < 1.27 * std::hypot(g[0], g[1], g[2]);
}

/// Calls what(voxel, squared distance) for the voxels within a distance of one.
template <class Callable>
void around(std::uint64_t middle, int radius, const Callable& what) {
  const auto nx = static_cast<std::uint64_t>(size[0]), ny = static_cast<std::uint64_t>(size[1]);
  const triple at{static_cast<int>(middle % nx), static_cast<int>(middle / nx % ny),
                  static_cast<int>(middle / (nx * ny))};
  for (int z = std::max(0, at[2] - radius); z <= std::min(size[2] - 1, at[2] + radius); ++z)
    for (int y = std::max(0, at[1] - radius); y <= std::min(size[1] - 1, at[1] + radius); ++y)
      for (int x = std::max(0, at[0] - radius); x <= std::min(size[0] - 1, at[0] + radius); ++x) {
        const int dx = x - at[0], dy = y - at[1], dz = z - at[2], squared = dx * dx + dy * dy + dz * dz;
        if (squared > radius * radius) continue;
        what((static_cast<std::uint64_t>(z) * ny + static_cast<std::uint64_t>(y)) * nx + static_cast<std::uint64_t>(x),
             squared);
      }
}

}  // namespace

brain_fibre brain_fibre_at(std::uint64_t voxel) {
  const vec3 p = place_of(voxel);
  vec3 along;
  if (in_bridge(p)) {
    along = {1, 0.2 * std::sin(p[1] / 15), -p[0] / 250};
  } else {
    const vec3 n = gradient(p);
    const double turn = p[2] / 12 + p[0] / 30;
    const vec3 w{std::cos(turn), std::sin(turn), 0.5};
    along = {n[1] * w[2] - n[2] * w[1], n[2] * w[0] - n[0] * w[2], n[0] * w[1] - n[1] * w[0]};
  }
  const double length = std::hypot(along[0], along[1], along[2]);
  if (!(length > 1e-6)) return {{1, 0, 0}, 3};  // the sheet's normal is w: any direction in the sheet will do
  for (double& a : along) a /= length;
  const double part = 0.5 + 0.5 * std::sin(p[0] / 11) * std::cos(p[1] / 17 + p[2] / 9);
  return {along, 3 * std::pow(100. / 3, part)};
}

const std::vector<std::uint8_t>& brain_mask() {
  static const auto mask = [] {
    std::vector<std::uint8_t> inside(brain_size[0] * brain_size[1] * brain_size[2]);
    for (std::uint64_t v = 0; v < inside.size(); ++v) inside[v] = in_sheet(place_of(v)) || in_bridge(place_of(v));
    return inside;
  }();
  return mask;
}

std::vector<std::int32_t> brain_labels(std::size_t regions) {
  const auto& inside = brain_mask();
  std::vector<std::uint64_t> voxels;
  for (std::uint64_t v = 0; v < inside.size(); ++v)
    if (inside[v]) voxels.push_back(v);
  std::vector<std::int32_t> label(inside.size());
  std::vector<int> nearest(inside.size(), 1000);
  for (std::size_t r = 0; r < regions; ++r) {
    const double part = std::fmod(static_cast<double>(r + 1) * 0.6180339887498949, 1.0);
    around(voxels[static_cast<std::size_t>(part * static_cast<double>(voxels.size()))], 3,
           [&](std::uint64_t v, int squared) {
             if (!inside[v] || squared >= nearest[v]) return;
             nearest[v] = squared;
             label[v] = static_cast<std::int32_t>(r + 1);
           });
  }
  return label;
}

}  // namespace voxherd::bench
