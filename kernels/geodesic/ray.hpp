#pragma once

#include <cstdint>

#include "kernels/geodesic/place.hpp"
#include "kernels/geodesic/settings.hpp"

namespace voxherd::geodesic {

/// What a ray is and what a fibre (one ray, or two) has gathered, for each lane.
template <class Number>
struct ray_state {
  place<Number> at;
  Number q[3];
  Number voxel[3];       ///< whose facts these are
  Number FA, speed;      ///< facts of that voxel
  Number chord[3];       ///< the last step, in the world (mm); zero before the first
  Number remembered[3];  ///< a place of this ray, for loops: index coordinates
  Number steps, remembered_step;
  Number relative;  ///< relative speed in the last step
  Number first_energy;

  Number length_mm, metric_length, fastest_length, weakest, FA_sum, drift;  ///< of the fibre
};

/// The rest of a lane's fibre: touched when it enters a voxel, ends or begins.
struct fibre_account {
  std::uint64_t slot;      ///< where its results go, counted from the batch's first
  std::uint32_t included;  ///< inclusion regions passed, one bit each
  std::uint32_t own_target;
  std::uint32_t reached[2];
  std::uint32_t steps[2];
  stop_reason stop[2];
  bool excluded;
  int ray;  ///< 0: along +u, 1: along -u
};

}  // namespace voxherd::geodesic
