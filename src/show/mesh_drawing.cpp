#include "src/show/mesh_drawing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace voxherd::report {

namespace {

using mesh_point = std::array<double, 3>;  ///< pixels to the right, pixels downwards, mm towards the viewer

mesh_point difference(const mesh_point& a, const mesh_point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

mesh_point cross_product(const mesh_point& a, const mesh_point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Twice the area of a triangle in the picture, with the sign of its direction.
double doubled_area(const mesh_point& a, const mesh_point& b, const mesh_point& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Pixels of one size, each divided into 2 x 2 for smooth edges.
class mesh_canvas {
 public:
  static constexpr std::size_t fine = 2;

  mesh_canvas(std::size_t columns, std::size_t rows)
      : width_(fine * columns),
        height_(fine * rows),
        nearest_(width_ * height_, -std::numeric_limits<double>::infinity()),
        colours_(width_ * height_) {}

  /// Calls paint(weights of the corners) for each place that nothing nearer hides.
  template <class Paint>
  void add_triangle(const std::array<mesh_point, 3>& p, const Paint& paint) {
    const double whole = doubled_area(p[0], p[1], p[2]);
    if (whole == 0) return;
    const auto [x0, x1] = pixels(p, 0, width_);
    const auto [y0, y1] = pixels(p, 1, height_);
    for (std::size_t y = y0; y < y1; ++y)
      for (std::size_t x = x0; x < x1; ++x) {
        const mesh_point at{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, 0};
        const std::array<double, 3> w{doubled_area(at, p[1], p[2]) / whole, doubled_area(p[0], at, p[2]) / whole,
                                      doubled_area(p[0], p[1], at) / whole};
        if (w[0] < 0 || w[1] < 0 || w[2] < 0) continue;
        double& nearest = nearest_[y * width_ + x];
        const double depth = w[0] * p[0][2] + w[1] * p[1][2] + w[2] * p[2][2];
        if (depth <= nearest) continue;
        nearest = depth;
        colours_[y * width_ + x] = paint(w);
      }
  }

  rgb_image finish() const {
    rgb_image image(width_ / fine, height_ / fine);
    for (std::size_t y = 0; y < image.height; ++y)
      for (std::size_t x = 0; x < image.width; ++x) image.set(x, y, mean(x, y));
    return image;
  }

 private:
  /// The first pixel whose centre can be inside, and the one after the last.
  static std::pair<std::size_t, std::size_t> pixels(const std::array<mesh_point, 3>& p, std::size_t d,
                                                    std::size_t size) {
    const auto [low, high] = std::minmax({p[0][d], p[1][d], p[2][d]});
    const double end = static_cast<double>(size);
    return {static_cast<std::size_t>(std::clamp(std::ceil(low - 0.5), 0.0, end)),
            static_cast<std::size_t>(std::clamp(std::floor(high - 0.5) + 1, 0.0, end))};
  }

  colour mean(std::size_t x, std::size_t y) const {
    colour c{};
    for (std::size_t k = 0; k < 3; ++k) {
      unsigned sum = 0;
      for (std::size_t j = 0; j < fine * fine; ++j)
        sum += colours_[(fine * y + j / fine) * width_ + fine * x + j % fine][k];
      c[k] = static_cast<std::uint8_t>((sum + fine * fine / 2) / (fine * fine));
    }
    return c;
  }

  std::size_t width_, height_;
  std::vector<double> nearest_;
  std::vector<colour> colours_;
};

/// Parts of the normals towards the viewer, from 0 to 1: means over the triangles of each vertex, by their areas. Both
/// sides of a surface are bright.
std::vector<double> find_facing(const surface& mesh, const std::vector<mesh_point>& mm) {
  std::vector<mesh_point> normals(mm.size());
  for (const auto& t : mesh.triangles) {
    const mesh_point n = cross_product(difference(mm[t[1]], mm[t[0]]), difference(mm[t[2]], mm[t[0]]));
    for (const std::uint32_t corner : t)
      for (std::size_t k = 0; k < 3; ++k) normals[corner][k] += n[k];
  }
  std::vector<double> facing;
  for (const mesh_point& n : normals) {
    const double length = std::hypot(n[0], n[1], n[2]);
    facing.push_back(length > 0 ? std::abs(n[2]) / length : 1);
  }
  return facing;
}

colour shade(const colour& c, double facing) {
  constexpr double ambient = 0.35;
  const double light = ambient + (1 - ambient) * facing;
  colour dark{};
  for (std::size_t k = 0; k < 3; ++k) dark[k] = static_cast<std::uint8_t>(std::lround(light * c[k]));
  return dark;
}

/// To the right, upwards and towards the viewer.
std::vector<mesh_point> turn_mesh(const surface& mesh, const mesh_side& side) {
  const auto across = static_cast<std::size_t>(side.across), up = static_cast<std::size_t>(side.up),
             depth = 3 - across - up;
  const bool is_even = up == (across + 1) % 3;  // across x up = depth
  const int towards = is_even ? side.sign : -side.sign;
  std::vector<mesh_point> turned;
  for (const auto& p : mesh.points_mm)
    turned.push_back({side.sign * static_cast<double>(p[across]), static_cast<double>(p[up]),
                      towards * static_cast<double>(p[depth])});
  return turned;
}

}  // namespace

mesh_picture draw_mesh(const surface& mesh, const mesh_side& side, std::size_t longest, const mesh_colours& colours) {
  constexpr double margin = 0.02, min_extent_mm = 1e-3;
  const std::vector<mesh_point> mm = turn_mesh(mesh, side);
  mesh_point low = mm.front(), high = mm.front();
  for (const mesh_point& p : mm)
    for (std::size_t k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  const double extent = std::max({high[0] - low[0], high[1] - low[1], min_extent_mm}), edge = margin * extent;
  const double scale = static_cast<double>(longest) / (extent + 2 * edge);
  const auto pixels = [&](std::size_t k) {
    return static_cast<std::size_t>(std::max(1.0, std::ceil((high[k] - low[k] + 2 * edge) * scale - 1e-9)));
  };
  mesh_canvas drawn(pixels(0), pixels(1));
  std::vector<mesh_point> places;
  for (const mesh_point& p : mm)
    places.push_back({mesh_canvas::fine * scale * (p[0] - low[0] + edge),
                      mesh_canvas::fine * scale * (high[1] + edge - p[1]), p[2]});
  const std::vector<double> facing = find_facing(mesh, mm);
  for (const auto& t : mesh.triangles)
    drawn.add_triangle({places[t[0]], places[t[1]], places[t[2]]}, [&](const std::array<double, 3>& w) {
      return shade(colours(t, w), w[0] * facing[t[0]] + w[1] * facing[t[1]] + w[2] * facing[t[2]]);
    });
  return {drawn.finish(), side.sign * (low[0] - edge), high[1] + edge, 1 / scale};
}

}  // namespace voxherd::report
