#include "src/phantom/dwi_phantom.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace voxherd {

namespace {

/// A position in the brain. In u, the half axes are 1. In x and y, p is u with one scale for both axes, so that angles
/// within a slice are true angles.
struct brain_place {
  direction3 u;
  direction3 p;
  direction3 voxels_per_p, voxels_per_u;
  double radius = 0;  ///< |u|: 1 at the brain's surface
};

brain_place voxel_place(std::uint64_t voxel, const std::array<std::uint64_t, 3>& size,
                        const direction3& half_axis_voxels) {
  const std::uint64_t index[3] = {voxel % size[0], voxel / size[0] % size[1], voxel / (size[0] * size[1])};
  const double in_plane = std::min(half_axis_voxels[0], half_axis_voxels[1]);
  brain_place here{{}, {}, {in_plane, in_plane, half_axis_voxels[2]}, half_axis_voxels};
  double square = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double from_centre = static_cast<double>(index[c]) - (static_cast<double>(size[c]) - 1) / 2;
    here.u[c] = from_centre / half_axis_voxels[c];
    here.p[c] = from_centre / here.voxels_per_p[c];
    square += here.u[c] * here.u[c];
  }
  here.radius = std::sqrt(square);
  return here;
}

/// A bundle at a position: depth inside the bundle (1 on its axis, 0 at its edge and outside) and direction.
struct bundle {
  double depth = 0;
  direction3 direction{};
  bool beyond_end = false;  ///< whether the bundle has ended before this position
};

/// Depth in a bundle with an elliptical cross-section: a^2 + b^2 is 1 at its edge.
double ellipse_depth(double a, double b) { return std::max(0.0, 1 - a * a - b * b); }

direction3 to_unit_voxels(const brain_place& at, direction3 v) {
  double square = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    v[c] *= at.voxels_per_p[c];
    square += v[c] * v[c];
  }
  for (double& x : v) x /= std::sqrt(square);
  return v;
}

bundle straight(const brain_place& at) {
  return {ellipse_depth((at.p[0] + 0.45) / 0.22, (at.p[2] - 0.61) / 0.25), {0, 1, 0}};
}

bundle across(const brain_place& at) { return {ellipse_depth(at.p[1] / 0.36, at.p[2] / 0.36), {1, 0, 0}}; }

/// Crosses `across` at 60 degrees in its lowest slice and at 90 in its highest.
bundle oblique(const brain_place& at) {
  const double angle = (75 + 15 * std::clamp(at.p[2] / 0.36, -1.0, 1.0)) * (std::numbers::pi / 180);
  const double c = std::cos(angle), s = std::sin(angle);
  return {ellipse_depth((c * at.p[1] - s * at.p[0]) / 0.36, at.p[2] / 0.36), {c, s, 0}};
}

bundle upright(const brain_place& at) {
  if (at.p[2] < -0.33) return {0, {}, true};
  return {ellipse_depth(at.p[0] / 0.2, at.p[1] / 0.2), {0, 0, 1}};
}

bundle fan(const brain_place& at) {
  const direction3 from{at.p[0] - 0.4, at.p[1] + 0.75, at.p[2] - 0.61};
  if (from[1] <= 0.1) return {0, {}, true};
  const double spread = 0.06 + 0.4 * from[1];  // opening half-angle of about 22 degrees
  return {ellipse_depth(from[0] / spread, from[2] / 0.25), to_unit_voxels(at, {from[0], from[1] + 0.06 / 0.4, 0})};
}

/// Two arcs that touch in the middle and separate again; each position belongs to the nearer one.
bundle kiss(const brain_place& at) {
  const double side = at.p[0] < 0 ? -1 : 1, radius = 0.45;
  const double x = at.p[0] - side * (radius + 0.1), y = at.p[1];
  const double distance = std::hypot(x, y);
  if (distance == 0) return {};
  return {ellipse_depth((distance - radius) / 0.16, (at.p[2] + 0.61) / 0.25), {-y / distance, x / distance, 0}};
}

constexpr double cortex = 0.88, fluid = 0.95;  // radii at which cortex and fluid start
constexpr bundle (*bundles[])(const brain_place&) = {across, oblique, upright, straight, fan, kiss};
constexpr int kiss_number = 5;

bool in_ventricle(const brain_place& at) {
  const double x = (std::fabs(at.p[0]) - 0.22) / 0.1, y = (at.p[1] - 0.45) / 0.22, z = (at.p[2] - 0.2) / 0.3;
  return x * x + y * y + z * z < 1;
}

/// Whether the bundle ends within one voxel along its direction (`sign` 1) or against it (-1).
bool ends(bundle (*bundle_at)(const brain_place&), const brain_place& at, const direction3& direction, double sign) {
  brain_place next = at;
  double square = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    next.p[c] += sign * direction[c] / at.voxels_per_p[c];
    next.u[c] += sign * direction[c] / at.voxels_per_u[c];
    square += next.u[c] * next.u[c];
  }
  return square >= cortex * cortex || bundle_at(next).beyond_end;
}

void set_fibres(const brain_place& at, std::size_t most, tissue& t) {
  std::array<bundle, max_phantom_fibres> here{};
  for (const auto bundle_at : bundles) {
    const bundle b = bundle_at(at);
    if (b.depth > 0 && t.fibres < most) here[t.fibres++] = b;
  }
  for (std::size_t i = 0; i < t.fibres; ++i) {
    t.fraction[i] = largest_fractions[t.fibres - 1][i] * (0.8 + 0.2 * here[i].depth);
    t.direction[i] = here[i].direction;
  }
  for (std::size_t i = 1; i < t.fibres; ++i)
    for (std::size_t j = i; j > 0 && t.fraction[j] > t.fraction[j - 1]; --j) {
      std::swap(t.fraction[j], t.fraction[j - 1]);
      std::swap(t.direction[j], t.direction[j - 1]);
    }
}

}  // namespace

anatomy::anatomy(std::array<std::uint64_t, 3> size, double brain_size, std::size_t fibres)
    : size_(size), fibres_(std::min(fibres, max_phantom_fibres)) {
  for (std::size_t c = 0; c < 3; ++c) half_axis_voxels_[c] = brain_size * static_cast<double>(size[c]) / 2;
}

tissue anatomy::at(std::uint64_t voxel) const {
  const brain_place here = voxel_place(voxel, size_, half_axis_voxels_);
  tissue t;
  if (here.radius >= 1) return t;
  t.inside = true;
  if (here.radius < cortex) set_fibres(here, fibres_, t);
  const double coil = 1 + 0.1 * here.u[0] + 0.05 * here.u[1];  // receive sensitivity, so that S0 differs everywhere
  if (t.fibres > 0) {
    t.S0 = white_matter_S0 * coil, t.d_mm2_per_s = white_matter_d_mm2_per_s;
  } else if (here.radius >= fluid || in_ventricle(here)) {
    t.S0 = 1800 * coil, t.d_mm2_per_s = 3.0e-3;
  } else {
    t.S0 = 1000 * coil, t.d_mm2_per_s = 0.8e-3;
  }
  return t;
}

int anatomy::end_at(std::uint64_t voxel) const {
  const brain_place here = voxel_place(voxel, size_, half_axis_voxels_);
  if (here.radius >= cortex) return 0;
  int label = 0;
  double deepest = 0;
  for (int i = 0; i < static_cast<int>(std::size(bundles)); ++i) {
    const bundle b = bundles[i](here);
    if (b.depth <= deepest) continue;
    // The second of the two kissing arcs is a separate bundle in the opposite direction.
    const bool second_arc = i == kiss_number && here.p[0] >= 0;
    const double forward = second_arc ? -1 : 1;
    const bool first = ends(bundles[i], here, b.direction, -forward),
               last = ends(bundles[i], here, b.direction, forward);
    if (!first && !last) continue;
    deepest = b.depth;
    label = 2 * (i + (second_arc ? 1 : 0)) + (first ? 1 : 2);
  }
  return label;
}

std::uint64_t anatomy::mask_count() const {
  std::uint64_t count = 0;
  const auto voxels = static_cast<std::int64_t>(size_[0] * size_[1] * size_[2]);
#pragma omp parallel for reduction(+ : count)
  for (std::int64_t v = 0; v < voxels; ++v) count += at(static_cast<std::uint64_t>(v)).inside ? 1 : 0;
  return count;
}

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
