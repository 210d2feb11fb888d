#pragma once

#include <memory>
#include <span>

#include "kernels/geodesic/settings.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd::geodesic {

/// One step of an explicit Runge-Kutta rule in which each stage needs only the previous one.
struct step_rule {
  int stages;
  float ahead[4];  ///< distance along the previous stage's rates at which this one evaluates, in steps
  float weight[4];
  bool frozen;  ///< the field is read only at the first stage
};

/// Inputs of a batch of fibres, in the memory of the device that integrates it.
struct trace_job {
  field_view field;
  std::uint64_t textures[6];  ///< only on a GPU, if the field is read by its texture unit
  ray_settings rays;
  step_rule rule;
  float unit_length;  ///< unit length of the stored metric, in the unit of the true one
  const seed* seeds;
  std::uint64_t count;  ///< number of fibres of the batch

  std::uint64_t first;  ///< pass one: number of the first fibre
  score_arrays scores;

  const std::uint64_t* chosen;   ///< pass two: numbers of the fibres; null in pass one
  const std::uint32_t* steps;    ///< 2 per fibre
  const std::uint64_t* offsets;  ///< count + 1
  point_view points;
};

/// Creates a job and sets all members that follow from the field and the settings.
trace_job begin_job(const field& f, const ray_settings& settings);

// The backends of make_tracker().
std::unique_ptr<tracker> make_tracker_cpu(const field& f, std::span<const seed> seeds, const ray_settings& settings);
std::unique_ptr<tracker> make_tracker_cuda(const field& f, std::span<const seed> seeds, const ray_settings& settings);

}  // namespace voxherd::geodesic
