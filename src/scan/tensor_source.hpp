#pragma once

#include <nlohmann/json.hpp>

#include "core/analysis.hpp"
#include "core/command.hpp"
#include "core/device.hpp"
#include "kernels/tensor_field/field.hpp"
#include "mpi/comm/session.hpp"
#include "src/scan/tensor_placing.hpp"

namespace voxherd {

/// What an analysis on tensors begins with; the same on every rank.
struct tensor_source {
  geodesic::tensor_image image;  ///< along world axes
  std::vector<float> quartics;   ///< (nz, ny, nx, 15) where they were asked for: finsler_fit.hpp's, along world axes
  kept_signals signals;          ///< where they were asked for
  image_grid grid;
  nlohmann::json provenance;  ///< paths, sizes, fingerprints, image header; as dwi_series::provenance()
};

/// --dwi, --bvals, --bvecs, --mask, --grad-dev; --tensor, --tensor-from
void add_tensor_source_options(po::options_description& options);

/// Which of the two was given. Throws failure (usage): neither, both, options that belong to the other.
enum class tensor_input { dwi, file };
tensor_input check_tensor_source_options(const arguments& args);

/// What is wanted besides tensors; from a series alone.
struct tensor_extras {
  bool quartics = false;  ///< fourth-order norms
  bool signals = false;   ///< of all voxels, on every rank
};

/// From a diffusion-weighted series: tensors as `voxherd tensor` fits them by default, each rank a share of the voxels
/// on its device; the same bytes for any number of ranks. From a file: rank 0 reads it for all. Collective. Throws
/// failure, the same on every rank.
tensor_source read_tensor_source(const session& s, const arguments& args, const device& d, tensor_extras wanted = {});

}  // namespace voxherd
