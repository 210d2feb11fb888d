#pragma once

#include <cstdint>
#include <vector>

#include "core/device.hpp"
#include "mpi/comm/session.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// Tensors of a series' voxels, one row an item: xx, xy, xz, yy, yz, zz along the axes of the bvecs, mm2/s; zero where
/// `status` (voxel_status) is not `fitted`.
struct fitted_tensors {
  std::vector<float> tensor;
  std::vector<float> quartic;  ///< 15 an item, of fit_norms() alone
  std::vector<std::uint8_t> status;
};

/// Fits by iterated weighted least squares with two refits, what `voxherd tensor` does by default. Each rank fits an
/// even share of the voxels on its device; all get all rows. Collective. Throws failure (bad_data) where the gradients
/// do not determine a tensor.
fitted_tensors fit_tensors(const session& s, dwi_series& dwi, const device& d);

/// The same with the fourth-order norm of each voxel (kernels/geodesic/finsler_fit.hpp); how many had to be made convex
/// is said in the log. Throws failure (bad_data) where the gradients do not determine a norm.
fitted_tensors fit_norms(const session& s, dwi_series& dwi, const device& d);

}  // namespace voxherd
