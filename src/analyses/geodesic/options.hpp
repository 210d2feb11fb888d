#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/geodesic/settings.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/analyses/geodesic/seeding.hpp"
#include "src/scan/region_reader.hpp"
#include "src/scan/tensor_source.hpp"

namespace voxherd {

/// Which of the accepted fibres are written, and how.
struct fibre_selection {
  std::uint64_t top = 0;      ///< per region pair, best measure first; 0: all
  double distinct_mm = 0;     ///< two fibres of a pair closer than this are one route; 0: all are kept
  double output_step_mm = 0;  ///< between written points, along the fibre
};

struct ray_choice {
  geodesic::ray_settings rays;
  tensor_field::preparation how;
  fibre_selection selection;
};

struct seeding_request {
  std::string points, image;  ///< files, one of them
  std::vector<std::int32_t> labels;
  seeding_kind kind = seeding_kind::center;
  std::uint32_t per_voxel = 1;
};

struct region_request {
  std::vector<std::string> excludes, includes;  ///< files
  bool ordered = false;
  std::string targets;                      ///< file; "" for none
  std::vector<std::int32_t> target_labels;  ///< empty: all of the file
  std::vector<std::string> connectome;      ///< files
  surface_request surfaces;                 ///< also of the seeds
  std::string region_names;                 ///< file; "" for none
  std::optional<double> within_FA;          ///< nothing or 0: everywhere
};

/// Values that depend on the form or the voxel size are empty or 0 until option_table::complete() and
/// fill_in_lengths().
struct ray_request {
  geodesic::ray_form form = geodesic::ray_form::hamiltonian;
  std::optional<geodesic::interpolation> interpolation;
  geodesic::integrator integrator = geodesic::integrator::rk4;
  float step_mm = 0;
  std::uint32_t max_steps = 0;
  std::optional<float> max_length_mm;
  float min_length_mm = 0;
  std::optional<double> max_angle_degrees;
  std::optional<float> min_FA;
  float max_drift = 0;
  bool loop_check = true;
  std::optional<bool> two_way;
  std::optional<geodesic::direction_kind> directions;
  std::optional<std::uint32_t> directions_per_seed;
  float cone_degrees = 45;
  std::uint64_t random_seed = 8665904;
  tensor_field::metric_kind metric = tensor_field::metric_kind::inverse;
  double alpha = 1;
  std::optional<double> smoothing_voxels;
  std::optional<double> max_ratio;
  geodesic::measure_kind measure = geodesic::measure_kind::ratio;
  float min_measure = 0;
  std::uint64_t top = 0;
  double distinct_mm = 0;
  double output_step_mm = 0;
};

/// `voxherd geodesic`.
struct geodesic_request {
  tensor_source_request tensors;
  seeding_request seeding;
  region_request regions;
  ray_request rays;
  run_request run;

  bool is_connectome() const { return !regions.connectome.empty(); }
};

const option_table<geodesic_request>& geodesic_options();

/// Sets step, length and distance of points from the grid if the user gave none. Throws failure (usage) if
/// they do not fit together; a step longer than a voxel is a warning.
void fill_in_lengths(const image_grid& grid, ray_request& rays);

/// Throws failure (usage) if the device cannot compute the request.
void check_device(const ray_request& rays, backend where);

/// Tracker settings of a complete request.
ray_choice make_ray_choice(const ray_request& rays);

/// Collective. Throws failure, the same on every rank.
exit_status run_geodesic(session& s, const geodesic_request& request);

}  // namespace voxherd
