#pragma once

#include <cstdint>
#include <vector>

#include "core/device.hpp"
#include "mpi/comm/session.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// Fitted tensors, one row per item: xx, xy, xz, yy, yz, zz in the bvec frame, mm2/s; zero if `status` (voxel_status)
/// is not `fitted`.
struct fitted_tensors {
  std::vector<float> tensor;
  std::vector<float> quartic;  ///< 15 per item; only from fit_norms()
  std::vector<std::uint8_t> status;
};

/// Fits tensors by iteratively reweighted least squares with two refits, the default of `voxherd tensor`. Each rank
/// fits an equal share of the voxels on its device; all ranks get all rows. Collective. Throws failure (bad_data) if
/// the gradients do not determine a tensor.
fitted_tensors fit_tensors(const session& s, dwi_series& dwi, const device& d);

/// Fits tensors and the fourth-order norm of each voxel (kernels/geodesic/finsler_fit.hpp); logs how many norms had to
/// be made convex. Throws failure (bad_data) if the gradients do not determine a norm.
fitted_tensors fit_norms(const session& s, dwi_series& dwi, const device& d);

}  // namespace voxherd
