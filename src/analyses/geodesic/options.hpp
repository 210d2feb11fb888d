#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/analysis.hpp"
#include "core/command.hpp"
#include "kernels/geodesic/settings.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd {

/// Which of the accepted fibres are written, and how.
struct fibre_selection {
  std::uint64_t top = 0;      ///< of each region pair, best measure first; 0: all
  double distinct_mm = 0;     ///< two fibres of a pair closer than this are one route; 0: all are kept
  double output_step_mm = 0;  ///< between written points, along the fibre
};

struct ray_choice {
  geodesic::ray_settings rays;
  geodesic::preparation how;
  fibre_selection selection;
};

/// --form, --interpolation, --integrator, --metric, --alpha, --smooth, --least-eigenvalue, --step, --max-steps,
/// --max-length, --min-length, --min-radius, --min-fa, --max-drift, --no-loop-check, --directions, --direction-set,
/// --cone, --rays, --measure, --min-measure, --top, --distinct, --output-step, --seed
void add_ray_options(po::options_description& options);

/// Values and combinations checked before any file is opened. Options that were not given have what suits the form;
/// lengths that depend on the voxel are 0 until fill_in_lengths(). `connectome`: fibres join regions both ways.
/// Throws failure (usage).
ray_choice read_ray_options(const arguments& args, backend where, bool connectome);

/// Puts the grid's own step, longest way, radius and distance of points where the user gave none. Throws failure
/// (usage) where they do not go together; a step longer than a voxel is a warning.
void fill_in_lengths(const arguments& args, const image_grid& grid, ray_choice& choice);

/// What changes the result, as it is in effect, under the options' names.
void add_to_configuration(const ray_choice& choice, const arguments& args, nlohmann::json& configuration);

}  // namespace voxherd
