#pragma once

#include "kernels/geodesic/settings.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd::geodesic {

/// One step of an explicit Runge-Kutta rule in which each stage needs the one before alone.
struct step_rule {
  int stages;
  float ahead[4];  ///< how far along the last stage's rates this one looks, in steps
  float weight[4];
  bool frozen;  ///< the field is read at the first stage only
};

/// What a batch of fibres needs, in the memory of the device that integrates it.
struct trace_job {
  field_view field;
  std::uint64_t textures[6];  ///< of a GPU, when the field is read by its filtering unit
  ray_settings rays;
  step_rule rule;
  float least_cosine;  ///< between two steps; below -1: any
  float unit_length;   ///< of the stored metric, in the true one's unit
  const seed* seeds;
  std::uint64_t count;  ///< fibres of the batch

  std::uint64_t first;  ///< pass one: number of the first fibre
  score_arrays scores;

  const std::uint64_t* chosen;   ///< pass two: numbers of the fibres; null in pass one
  const std::uint32_t* steps;    ///< 2 a fibre
  const std::uint64_t* offsets;  ///< count + 1
  point_view points;
};

/// A job with everything that the field and the settings decide.
trace_job begin_job(const field& f, const ray_settings& settings);

}  // namespace voxherd::geodesic
