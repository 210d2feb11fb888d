#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/connect/front_start.hpp"
#include "kernels/connect/path_reader.hpp"
#include "kernels/connect/solver.hpp"

namespace voxherd::connect {

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

}  // namespace voxherd::connect
