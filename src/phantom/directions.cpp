#include "src/phantom/dwi_phantom.hpp"

#include <cmath>
#include <numbers>

namespace voxherd {

namespace {

direction3 normalised(const direction3& v) {
  const double length = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  return {v[0] / length, v[1] / length, v[2] / length};
}

std::vector<direction3> half_sphere_spiral(std::size_t count) {
  std::vector<direction3> points;
  for (std::size_t k = 0; k < count; ++k) {
    const double z = 1 - (static_cast<double>(k) + 0.5) / static_cast<double>(count);
    const double phi = 2 * std::numbers::pi * static_cast<double>(k) / std::numbers::phi, r = std::sqrt(1 - z * z);
    points.push_back({r * std::cos(phi), r * std::sin(phi), z});
  }
  return points;
}

/// Repulsive force on point i from all other points and their opposites, each 1 / distance^2.
direction3 repulsion(const std::vector<direction3>& points, std::size_t i) {
  direction3 force{};
  for (std::size_t j = 0; j < points.size(); ++j) {
    if (j == i) continue;
    for (const double sign : {1.0, -1.0}) {
      direction3 d{};
      double square = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        d[c] = points[i][c] - sign * points[j][c];
        square += d[c] * d[c];
      }
      const double strength = 1 / (square * std::sqrt(square));
      for (std::size_t c = 0; c < 3; ++c) force[c] += strength * d[c];
    }
  }
  return force;
}

}  // namespace

std::vector<direction3> spread_directions(std::size_t count) {
  std::vector<direction3> points = half_sphere_spiral(count);
  constexpr int steps = 100;
  for (int step = 0; step < steps && count > 1; ++step) {
    std::vector<direction3> next = points;
    // The distance between neighbours is about 1/sqrt(count) and the force about count; a step is a fraction of the
    // distance.
    const double size = 0.3 * (1 - static_cast<double>(step) / steps) / std::pow(static_cast<double>(count), 1.5);
    for (std::size_t i = 0; i < count; ++i) {
      const direction3 force = repulsion(points, i);
      for (std::size_t c = 0; c < 3; ++c) next[i][c] += size * force[c];
      next[i] = normalised(next[i]);
    }
    points = std::move(next);
  }
  return points;
}

gradient_table make_gradients(std::size_t b0_count, const std::vector<gradient_shell>& shells) {
  struct volume {
    double b;
    direction3 g;
  };
  std::vector<volume> weighted;
  std::vector<std::vector<direction3>> sets;
  std::size_t most = 0;
  for (const gradient_shell& shell : shells) {
    sets.push_back(spread_directions(shell.directions));
    most = std::max(most, shell.directions);
  }
  for (std::size_t k = 0; k < most; ++k)
    for (std::size_t s = 0; s < shells.size(); ++s)
      // Negate every second direction, so that the set covers the complete sphere.
      if (k < sets[s].size()) {
        const direction3& g = sets[s][k];
        const double sign = k % 2 == 0 ? 1 : -1;
        weighted.push_back({shells[s].b_s_per_mm2, {sign * g[0], sign * g[1], sign * g[2]}});
      }

  gradient_table table;
  const auto add = [&](double b, const direction3& g) {
    table.b_s_per_mm2.push_back(b);
    table.x.push_back(g[0]), table.y.push_back(g[1]), table.z.push_back(g[2]);
  };
  std::size_t b0_done = 0;
  for (std::size_t k = 0; k < weighted.size(); ++k) {
    while (b0_done < b0_count && b0_done * weighted.size() <= k * b0_count) add(0, {0, 0, 0}), ++b0_done;
    add(weighted[k].b, weighted[k].g);
  }
  while (b0_done < b0_count) add(0, {0, 0, 0}), ++b0_done;
  return table;
}

}  // namespace voxherd
