#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/connect/flow.hpp"
#include "kernels/connect/solver.hpp"
#include "kernels/portable/voxel_walk.hpp"

namespace voxherd::connect {

/// Interpolates the data of one front between voxels, for paths.
struct path_reader {
  lattice_view lattice;
  const flow* flows;  ///< flows of this front

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
    walk_voxels(from.x, to.x, from.at, to.at, [&](const int(&voxel)[3]) {
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

/// Records a path: its length, its cost and, if wanted, its points.
struct path_record {
  const float* axes_mm;    ///< row-major 3x3
  const float* origin_mm;  ///< 3
  float* points_mm;        ///< null if not wanted
  std::uint64_t room;      ///< maximum number of points
  bool wants_cost;
  double length_mm;
  double cost;
  std::uint32_t steps;

  VOXHERD_FUNCTION void put(const path_reader::place& p) const {
    if (steps >= room) return;
    float mm[3];
    to_mm(p.x, mm);
    for (int d = 0; d < 3; ++d) points_mm[3 * std::size_t{steps} + d] = mm[d] + origin_mm[d];
  }

  VOXHERD_FUNCTION void add(const path_reader& read, const path_reader::place& from, const path_reader::place& to) {
    const float displacement[3] = {to.x[0] - from.x[0], to.x[1] - from.x[1], to.x[2] - from.x[2]};
    float mm[3];
    to_mm(displacement, mm);
    length_mm += static_cast<double>(sqrtf(tensor_field::dot(mm, mm)));
    if (wants_cost) cost += static_cast<double>(read.segment_cost(from, to));
    ++steps;
    put(to);
  }

 private:
  VOXHERD_FUNCTION void to_mm(const float (&voxels)[3], float (&mm)[3]) const {
    for (int i = 0; i < 3; ++i)
      mm[i] = axes_mm[3 * i] * voxels[0] + axes_mm[3 * i + 1] * voxels[1] + axes_mm[3 * i + 2] * voxels[2];
  }
};

/// A path on its way back to the source.
struct path_walk {
  path_reader read;
  front_start started;
  path_settings settings;
  path_record record;
  path_reader::place here;  ///< in the mask

  VOXHERD_FUNCTION path_end follow() {
    if (!read.is_reached(here)) return path_end::never_reached;
    const auto patience = static_cast<std::uint32_t>(3 / settings.step_voxels) + 1;  // almost twice a voxel's diagonal
    float least = unreached, until = unreached;  // the flow is not used before an arrival time below `until`
    std::uint32_t idle = 0;                      // steps since the path last came nearer to the source
    while (true) {
      const flow nearest = read.flows[here.cell];
      const bool may_step = record.steps < settings.max_steps;
      if (sees_point()) return go_to_point(may_step);
      if (!nearest.has_direction()) {
        if (nearest.arrival > started.latest) return path_end::stuck;
        return may_step ? arrive() : path_end::steps;
      }
      if (!may_step) return path_end::steps;
      idle = nearest.arrival < least ? 0 : idle + 1;
      least = fminf(least, nearest.arrival);
      if (idle < patience && nearest.arrival < until && step_along_flow()) continue;
      until = fminf(until, nearest.arrival);
      if (!step_to_neighbour()) return path_end::stuck;
    }
  }

 private:
  VOXHERD_FUNCTION void go(const path_reader::place& to) {
    record.add(read, here, to);
    here = to;
  }

  /// Within a few voxels of the point (the ball of the starts), arrival times are those of straight lines.
  VOXHERD_FUNCTION bool sees_point() const {
    float square = 0;
    for (int d = 0; d < 3; ++d) square += (here.x[d] - started.point[d]) * (here.x[d] - started.point[d]);
    if (started.radius < 0 || square > started.radius * started.radius) return false;
    return read.is_clear(here, read.place_at(started.point[0], started.point[1], started.point[2]));
  }

  VOXHERD_FUNCTION path_end go_to_point(bool may_step) {
    const path_reader::place point = read.place_at(started.point[0], started.point[1], started.point[2]);
    if (here.x[0] == point.x[0] && here.x[1] == point.x[1] && here.x[2] == point.x[2]) return path_end::source;
    if (!may_step) return path_end::steps;
    go(point);
    return path_end::source;
  }

  /// In a voxel of the source, whose arrival time is that of its centre: continues as far as the surrounding arrival
  /// times indicate.
  VOXHERD_FUNCTION path_end arrive() {
    const path_reader::blend flow_here = read.blended(here);
    float s[6];
    if (tensor_field::dot(flow_here.direction, flow_here.direction) > 0 && read.tensor_at(here, s)) {
      float left = (flow_here.arrival - read.flows[here.cell].arrival) / piece_cost(s, flow_here.direction);
      for (int halving = 0; halving < 3 && left > 1e-3f; ++halving, left *= 0.5f) {
        const path_reader::place end = read.moved(here, flow_here.direction, fminf(left, 1));
        if (!read.is_reached(end) || read.flows[end.cell].has_direction() || !read.is_clear(here, end)) continue;
        go(end);
        break;
      }
    }
    return path_end::source;
  }

  VOXHERD_FUNCTION bool step_along_flow() {
    const path_reader::blend begin = read.blended(here);
    const path_reader::place middle = read.moved(here, begin.direction, 0.5f * settings.step_voxels);
    const bool has_middle = read.is_reached(middle) && read.flows[middle.cell].has_direction();
    const path_reader::blend along = has_middle ? read.blended(middle) : begin;
    const path_reader::place end = read.moved(here, along.direction, settings.step_voxels);
    if (!read.is_clear(here, end)) return false;
    go(end);
    return true;
  }

  /// Steps to the centre of the best neighbour; if the straight line leaves the mask, first to the centre of this
  /// voxel.
  VOXHERD_FUNCTION bool step_to_neighbour() {
    int step[3];
    const flow* flows = read.flows;
    const auto arrival = [flows](std::uint32_t cell) { return flows[cell].arrival; };
    const std::int32_t best =
        best_neighbour(read.lattice, static_cast<std::uint32_t>(here.cell), here.at, arrival, step);
    if (best < 0) return false;
    const float e[3] = {static_cast<float>(step[0]), static_cast<float>(step[1]), static_cast<float>(step[2])};
    const float x[3] = {static_cast<float>(here.at[0]), static_cast<float>(here.at[1]), static_cast<float>(here.at[2])};
    const path_reader::place step_end = read.moved(here, e, 1);
    const path_reader::place neighbour_centre = read.place_at(x[0] + e[0], x[1] + e[1], x[2] + e[2]);
    const path_reader::place centre = read.place_at(x[0], x[1], x[2]);
    const bool at_centre = here.x[0] == x[0] && here.x[1] == x[1] && here.x[2] == x[2];
    if (read.is_clear(here, step_end))
      go(step_end);
    else
      go(at_centre || read.is_clear(here, neighbour_centre) ? neighbour_centre : centre);
    return true;
  }
};

/// Traces the path of request `index` back from the centre of its voxel to the start of its front with second-order
/// Runge-Kutta steps along the flow. A step that would leave the mask, or steps without progress towards the source,
/// are replaced by steps from voxel to voxel of decreasing arrival time, so that every path ends. One callable for
/// scores and for points, so that both take the same steps. Ignores requests for fronts outside [first, first +
/// fronts).
struct path_follower {
  lattice_view lattice;
  const flow* flows;           ///< 64 blocks per front, from front `first` on
  const front_start* started;  ///< starts of all fronts
  std::uint32_t first, fronts;
  const path_request* requests;
  const std::uint32_t* cell_of_number;  ///< cells of voxels as numbered in requests
  path_settings settings;
  float axes_mm[9];  ///< row-major
  float origin_mm[3];
  path_score* scores;            ///< one per request; null if not wanted
  const std::uint64_t* offsets;  ///< path i has points offsets[i] - offsets[0] to offsets[i + 1] - offsets[0] - 1
  float* world_mm;               ///< null if not wanted

  VOXHERD_FUNCTION void operator()(std::uint32_t index) const {
    const path_request request = requests[index];
    if (request.front < first || request.front - first >= fronts) return;
    int at[3];
    voxel_place(lattice, lattice.find_voxel[cell_of_number[request.voxel]], at);
    const path_reader read{lattice, flows + std::size_t{request.front - first} * lattice.blocks * block_cells};
    path_walk walk{read,
                   started[request.front],
                   settings,
                   {axes_mm, origin_mm, nullptr, 0, scores != nullptr, 0, 0, 0},
                   read.place_at(static_cast<float>(at[0]), static_cast<float>(at[1]), static_cast<float>(at[2]))};
    if (world_mm != nullptr) {
      walk.record.points_mm = world_mm + 3 * (offsets[index] - offsets[0]);
      walk.record.room = offsets[index + 1] - offsets[index];
    }
    walk.record.put(walk.here);
    const path_end end = walk.follow();
    if (scores != nullptr)
      scores[index] = {static_cast<float>(walk.record.length_mm), static_cast<float>(walk.record.cost),
                       walk.record.steps, end};
    while (++walk.record.steps < walk.record.room)
      walk.record.put(walk.here);  // more space than points: the settings differ from those of the scores
  }
};

/// Sets the follower's members known on the host: settings, axes, origin.
path_follower make_follower(const path_settings& settings, const double (&axes_mm)[9], const double (&origin_mm)[3]);

}  // namespace voxherd::connect
