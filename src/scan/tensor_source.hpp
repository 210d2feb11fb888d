#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "core/options.hpp"
#include "kernels/tensor_field/field.hpp"
#include "mpi/comm/session.hpp"
#include "src/scan/dwi.hpp"
#include "src/scan/tensor_file.hpp"
#include "src/scan/tensor_placing.hpp"

namespace voxherd {

/// The input of an analysis of tensors; the same on every rank.
struct tensor_source {
  tensor_field::tensor_image image;  ///< along world axes
  std::vector<float> quartics;       ///< if requested: (nz, ny, nx, 15) as in finsler_fit.hpp, along world axes
  kept_signals signals;              ///< if requested
  image_grid grid;
  nlohmann::json provenance;  ///< paths, sizes, fingerprints and image header, as dwi_series::provenance()
};

/// Tensors fitted to a series, or read from a file.
struct tensor_source_request {
  dwi_request series;
  std::string tensor;                        ///< file; "" for none
  std::optional<tensor_origin> tensor_from;  ///< order and axes of that file; nothing: by its name
};

/// Refuses neither or both of --dwi and --tensor, and options that belong to the other one.
const option_table<tensor_source_request>& tensor_source_options();

/// Additional inputs; available only from a diffusion-weighted series.
struct tensor_extras {
  bool quartics = false;  ///< fourth-order norms
  bool signals = false;   ///< of all voxels, on every rank
};

/// This rank's device, chosen when it is needed. Collective.
using device_chooser = std::function<device()>;

/// From a diffusion-weighted series: fits tensors as `voxherd tensor` does by default, each rank a share of the voxels
/// on its device; the same bytes for any number of ranks. From a file: rank 0 reads it and broadcasts. Collective.
/// Throws failure, the same on every rank.
tensor_source read_tensor_source(const session& s, const tensor_source_request& request,
                                 std::uint64_t host_memory_bytes, const device_chooser& choose,
                                 tensor_extras wanted = {});

}  // namespace voxherd
