#pragma once

#include <cstdint>

#include "kernels/geodesic/place.hpp"
#include "kernels/geodesic/settings.hpp"

namespace voxherd::geodesic {

/// State of a ray, and accumulated values of its fibre (one or two rays), for each lane.
template <class Number>
struct ray_state {
  place<Number> at;
  Number q[3];
  Number voxel[3];       ///< voxel of these facts
  Number FA, speed;      ///< facts of that voxel
  Number chord[3];       ///< the last step, in the world (mm); zero before the first
  Number remembered[3];  ///< an earlier position of this ray, to detect loops: index coordinates
  Number steps, remembered_step;
  Number relative;  ///< relative speed in the last step
  Number first_energy;

  Number length_mm, metric_length, fastest_length, weakest, FA_sum, drift;  ///< of the fibre
};

/// One of a fibre's two rays.
struct ray_account {
  std::uint32_t steps, reached;
  stop_reason stop;
};

/// The remaining state of a lane's fibre, used when it enters a voxel, ends or starts. Two named members instead of an
/// array, because a run-time index would move it from registers to memory.
struct fibre_account {
  std::uint64_t slot;      ///< position of its results in the batch
  std::uint32_t included;  ///< inclusion regions passed, one bit each
  std::uint32_t own_target;
  ray_account forth, back;  ///< along +u and -u
  bool started, excluded;
  int ray;  ///< current ray: 0 forth, 1 back

  VOXHERD_FUNCTION std::uint32_t steps_of_ray() const { return ray == 0 ? forth.steps : back.steps; }
  VOXHERD_FUNCTION void reach(std::uint32_t target) {
    if (ray == 0) forth.reached = target;
    if (ray == 1) back.reached = target;
  }
  VOXHERD_FUNCTION void end_of_ray(stop_reason why, std::uint32_t steps) {
    if (ray == 0) forth.stop = why, forth.steps = steps;
    if (ray == 1) back.stop = why, back.steps = steps;
  }
};

}  // namespace voxherd::geodesic
