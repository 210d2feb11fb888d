#pragma once

#include <nlohmann/json.hpp>

#include "core/analysis.hpp"
#include "core/command.hpp"
#include "core/device.hpp"
#include "kernels/tensor_field/field.hpp"
#include "mpi/comm/session.hpp"
#include "src/scan/tensor_placing.hpp"

namespace voxherd {

/// The input of an analysis of tensors; the same on every rank.
struct tensor_source {
  geodesic::tensor_image image;  ///< along world axes
  std::vector<float> quartics;   ///< if requested: (nz, ny, nx, 15) as in finsler_fit.hpp, along world axes
  kept_signals signals;          ///< if requested
  image_grid grid;
  nlohmann::json provenance;  ///< paths, sizes, fingerprints and image header, as dwi_series::provenance()
};

/// --dwi, --bvals, --bvecs, --mask, --grad-dev; --tensor, --tensor-from
void add_tensor_source_options(po::options_description& options);

/// Returns which of the two inputs is given. Throws failure (usage): neither, both, or options of the other.
enum class tensor_input { dwi, file };
tensor_input check_tensor_source_options(const arguments& args);

/// Additional inputs; available only from a diffusion-weighted series.
struct tensor_extras {
  bool quartics = false;  ///< fourth-order norms
  bool signals = false;   ///< of all voxels, on every rank
};

/// From a diffusion-weighted series: fits tensors as `voxherd tensor` does by default, each rank a share of the voxels
/// on its device; the same bytes for any number of ranks. From a file: rank 0 reads it and broadcasts. Collective.
/// Throws failure, the same on every rank.
tensor_source read_tensor_source(const session& s, const arguments& args, const device& d, tensor_extras wanted = {});

}  // namespace voxherd
