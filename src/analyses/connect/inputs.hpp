#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "kernels/connect/solver.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/analyses/connect/options.hpp"
#include "src/scan/tensor_source.hpp"

namespace voxherd {

/// Inputs of `voxherd connect`; the same on every rank. Voxels are numbered among those that fronts may pass, in the
/// order of the image. A region is the source of one front and a destination of the others.
struct connect_inputs {
  image_grid grid;
  tensor_field::tensor_image image;
  std::vector<std::uint8_t> inside;   ///< (nz, ny, nx): 1 where fronts may pass: a tensor, and --within
  std::vector<std::uint64_t> voxels;  ///< their linear indices, increasing
  std::vector<std::int32_t> labels;   ///< of each region; 1 and 2 for --from and --to
  connect::region_list regions;       ///< their voxels; a region of a parcellation may have none
  std::vector<std::string> names;     ///< of the regions, from --region-names; empty without
  connect_settings options;
  kept_signals signals;          ///< only for a bootstrap
  nlohmann::json provenance;     ///< of the input files, for run_settings::provenance["inputs"]
  nlohmann::json configuration;  ///< settings that change the result, for run_settings::configuration

  double voxel_mm3() const;
};

/// Fractional anisotropy of every voxel where fronts may pass, from the measured tensors.
std::vector<float> measured_FA(const connect_inputs& inputs);

/// The tensors are fitted by all ranks; the rest is read by rank 0.
/// Collective. Throws failure, the same on every rank.
connect_inputs read_connect_inputs(const session& s, const connect_request& request, const device_chooser& choose);

}  // namespace voxherd
