#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "core/options.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "kernels/tensor_field/field.hpp"
#include "mpi/comm/session.hpp"
#include "src/scan/dwi.hpp"
#include "src/scan/tensor_file.hpp"

namespace voxherd {

/// Rotates tensors from the bvec frame (6 per voxel) to world axes, writes them into an image and marks their voxels as
/// inside. Skips voxels that were not fitted (`status`: voxel_status) or whose trace is not positive, and returns their
/// number. `voxels`: linear indices.
std::size_t place_tensors(const image_grid& grid, std::span<const std::uint64_t> voxels, std::span<const float> tensors,
                          std::span<const std::uint8_t> status, tensor_field::tensor_image& image);

/// The signals of the voxels that have a tensor.
struct kept_signals {
  std::vector<std::uint64_t> voxels;  ///< linear indices, increasing
  std::vector<float> rows;            ///< K per voxel, then the 9 of the gradient deviation if given
  gradient_table gradients;
  bool gradient_deviation = false;
};

/// The signals of all voxels that are inside, on this rank: from `rows`, the signals of all items, or if that is empty
/// loaded. Collective. Throws failure (disk, or as await_stage_or_throw()).
kept_signals keep_signals(const session& s, dwi_series& dwi, const std::vector<std::uint8_t>& inside,
                          std::vector<float> rows);

/// Fitted tensors, one row per item: xx, xy, xz, yy, yz, zz in the bvec frame, mm2/s; zero if `status` (voxel_status)
/// is not `fitted`.
struct fitted_tensors {
  std::vector<float> tensor;
  std::vector<float> quartic;  ///< 15 per item; only from fit_norms()
  std::vector<std::uint8_t> status;
  std::vector<float> rows;  ///< the signals of all items, if they are to be kept and one rank has read them all
};

/// Fits tensors by iteratively reweighted least squares with two refits, the default of `voxherd tensor`. Each rank
/// fits an equal share of the voxels on its device; all ranks get all rows. Collective. Throws failure (bad_data) if
/// the gradients do not determine a tensor.
fitted_tensors fit_tensors(const session& s, dwi_series& dwi, const device& d, bool keep_rows = false);

/// Fits tensors and the fourth-order norm of each voxel (kernels/tensor/quartic_fit.hpp); logs how many norms had to
/// be made convex. Throws failure (bad_data) if the gradients do not determine a norm.
fitted_tensors fit_norms(const session& s, dwi_series& dwi, const device& d);

/// The input of an analysis of tensors; the same on every rank.
struct tensor_source {
  tensor_field::tensor_image image;  ///< along world axes
  std::vector<float> quartics;       ///< if requested: (nz, ny, nx, 15) as in quartic_fit.hpp, along world axes
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
  bool signals = false;   ///< whether all voxels' signals are read, on every rank
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
