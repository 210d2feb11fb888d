#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/device.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/analyses/geodesic/options.hpp"

namespace voxherd {

/// Inputs of `voxherd geodesic`; the same on every rank.
struct geodesic_inputs {
  image_grid grid;
  tensor_field::tensor_image image;
  std::vector<float> quartics;              ///< (nz, ny, nx, 15), only for --form finsler4
  std::vector<std::uint32_t> regions;       ///< (nz, ny, nx), bits of tensor_field::region
  std::vector<std::int64_t> target_labels;  ///< the label of target number i + 1
  std::vector<geodesic::seed> seeds;        ///< by voxel, slice after slice
  geodesic::ray_settings rays;              ///< complete: no length is left at 0 for "choose one"
  tensor_field::preparation how;
  fibre_selection selection;
  bool connectome = false;       ///< write matrices between the target labels
  nlohmann::json provenance;     ///< of the input files, for run_settings::provenance["inputs"]
  nlohmann::json configuration;  ///< settings that change the result, for run_settings::configuration
};

/// The tensors are fitted by all ranks; the rest is read by rank 0.
/// Collective. Throws failure, the same on every rank.
geodesic_inputs read_geodesic_inputs(const session& s, const geodesic_request& request, const device_chooser& choose);

}  // namespace voxherd
