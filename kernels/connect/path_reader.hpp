#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/connect/flow.hpp"
#include "kernels/geodesic/voxel_walk.hpp"

namespace voxherd::connect {

/// Interpolates the data of one front between voxels, for paths.
struct path_reader {
  lattice_view lattice;
  const flow* flows;  ///< of this front

  /// A point and the voxel that contains it.
  struct place {
    float x[3];
    int at[3];
    std::int32_t cell;  ///< -1 outside the mask
  };

  /// Flow and arrival time at a point.
  struct blend {
    float direction[3];  ///< unit vector; 0 if undefined
    float arrival;
  };

  VOXHERD_FUNCTION place place_at(float x, float y, float z) const {
    place p{{x, y, z}, {}, -1};
    for (int d = 0; d < 3; ++d) p.at[d] = static_cast<int>(floorf(p.x[d] + 0.5f));
    p.cell = lattice.cell_at(p.at[0], p.at[1], p.at[2]);
    return p;
  }

  VOXHERD_FUNCTION place moved(const place& p, const float (&direction)[3], float by) const {
    return place_at(fmaf(by, direction[0], p.x[0]), fmaf(by, direction[1], p.x[1]), fmaf(by, direction[2], p.x[2]));
  }

  VOXHERD_FUNCTION bool is_reached(const place& p) const { return p.cell >= 0 && flows[p.cell].is_reached(); }

  /// Whether a straight segment that starts in the mask stays in it.
  VOXHERD_FUNCTION bool is_clear(const place& from, const place& to) const {
    if (!is_reached(to)) return false;
    bool clear = true;
    geodesic::walk_voxels(from.x, to.x, from.at, to.at, [&](const int(&voxel)[3]) {
      const std::int32_t cell = lattice.cell_at(voxel[0], voxel[1], voxel[2]);
      clear = cell >= 0 && flows[cell].is_reached();
      return clear;
    });
    return clear;
  }

  /// Trilinear interpolation over those of the eight surrounding voxels that belong to the same branch of the solution:
  /// not later than the nearest voxel plus the cost of crossing from it (behind a wall), and not flowing against it
  /// (around an obstacle).
  VOXHERD_FUNCTION blend blended(const place& p) const {
    const flow nearest = flows[p.cell];
    float s[6];
    read_tensor(lattice, static_cast<std::uint32_t>(p.cell), s);
    float weight[6];
    corner_weights(p, weight);
    blend sum{{0, 0, 0}, 0};
    float reached = 0;
    VOXHERD_UNROLL
    for (int corner = 0; corner < 8; ++corner) {
      int at[3];
      float w;
      const std::int32_t cell = corner_cell(p, weight, corner, at, w);
      if (cell < 0) continue;
      const flow f = flows[cell];
      if (!f.is_reached() || is_behind(nearest, f, s, p.at, at)) continue;
      reached += w;
      sum.arrival += w * f.arrival;
      if (nearest.has_direction() && tensor_field::dot(f.direction, nearest.direction) < 0) continue;
      for (int d = 0; d < 3; ++d) sum.direction[d] += w * f.direction[d];
    }
    sum.arrival = reached > 0 ? sum.arrival / reached : nearest.arrival;
    const float square = tensor_field::dot(sum.direction, sum.direction);
    const float scale = 1 / sqrtf(square);
    for (int d = 0; d < 3; ++d) sum.direction[d] = square > 1e-12f ? sum.direction[d] * scale : nearest.direction[d];
    return sum;
  }

  /// Cost of a straight segment, with S interpolated at the midpoints of parts of at most half a voxel.
  VOXHERD_FUNCTION float segment_cost(const place& from, const place& to) const {
    const float displacement[3] = {to.x[0] - from.x[0], to.x[1] - from.x[1], to.x[2] - from.x[2]};
    const float length = sqrtf(tensor_field::dot(displacement, displacement));
    const int parts = 1 + static_cast<int>(2 * length);
    const float part[3] = {displacement[0] / static_cast<float>(parts), displacement[1] / static_cast<float>(parts),
                           displacement[2] / static_cast<float>(parts)};
    float cost = 0;
    for (int i = 0; i < parts; ++i) {
      float s[6];
      if (tensor_at(moved(from, part, static_cast<float>(i) + 0.5f), s)) cost += piece_cost(s, part);
    }
    return cost;
  }

  /// S interpolated trilinearly over voxels in the mask; false if there are none.
  VOXHERD_FUNCTION bool tensor_at(const place& p, float (&s)[6]) const {
    float weight[6], total = 0;
    corner_weights(p, weight);
    for (float& x : s) x = 0;
    for (int corner = 0; corner < 8; ++corner) {
      int at[3];
      float w;
      const std::int32_t cell = corner_cell(p, weight, corner, at, w);
      if (cell < 0) continue;
      float t[6];
      read_tensor(lattice, static_cast<std::uint32_t>(cell), t);
      for (int n = 0; n < 6; ++n) s[n] += w * t[n];
      total += w;
    }
    for (float& x : s) x /= total;
    return total > 0;
  }

 private:
  /// Weights of the lower and upper voxel along each axis.
  VOXHERD_FUNCTION static void corner_weights(const place& p, float (&weight)[6]) {
    for (int d = 0; d < 3; ++d) {
      weight[2 * d + 1] = p.x[d] - floorf(p.x[d]);
      weight[2 * d] = 1 - weight[2 * d + 1];
    }
  }

  VOXHERD_FUNCTION std::int32_t corner_cell(const place& p, const float (&weight)[6], int corner, int (&at)[3],
                                            float& w) const {
    w = 1;
    for (int d = 0; d < 3; ++d) {
      const int upper = corner >> d & 1;
      at[d] = static_cast<int>(floorf(p.x[d])) + upper;
      w *= upper == 1 ? weight[2 * d + 1] : weight[2 * d];
    }
    return w > 0 ? lattice.cell_at(at[0], at[1], at[2]) : -1;
  }

  VOXHERD_FUNCTION static bool is_behind(const flow& nearest, const flow& f, const float (&s)[6], const int (&from)[3],
                                         const int (&to)[3]) {
    constexpr float max_crossings = 1.5f;  // arrival times are not exact, and S changes between voxels
    const float later = f.arrival - nearest.arrival;
    if (!(later > 0)) return false;
    const float v[3] = {static_cast<float>(to[0] - from[0]), static_cast<float>(to[1] - from[1]),
                        static_cast<float>(to[2] - from[2])};
    return later > max_crossings * piece_cost(s, v);
  }
};

}  // namespace voxherd::connect
