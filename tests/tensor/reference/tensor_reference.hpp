#pragma once

#include <array>
#include <span>

#include "kernels/portable/gradient_table.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "kernels/tensor/bootstrap.hpp"
#include "kernels/tensor/tensor.hpp"

namespace voxherd::reference {

struct tensor_voxel {
  voxel_status status = voxel_status::fitted;
  std::array<double, 6> tensor{};       ///< xx, xy, xz, yy, yz, zz, mm2/s
  std::array<double, 3> eigenvalues{};  ///< falling
  double S0 = 0, FA = 0, residual = 0;
};

/// The tensor of one voxel by a slow method: normal equations in long double, Gaussian elimination, the closed formula
/// for the eigenvalues. `row` as in tensor_solver::fit.
tensor_voxel fit_tensor(const gradient_table& gradients, std::span<const float> row, const tensor_settings& settings);

/// The same for a replicate of the wild bootstrap (kernels/tensor/bootstrap.hpp): leverages from the hat matrix's
/// diagonal, computed measurement by measurement. `residual` remains 0.
tensor_voxel refit_tensor(const gradient_table& gradients, std::span<const float> row,
                          const bootstrap_settings& settings, std::uint64_t voxel, std::uint64_t replicate);

/// Noise-free signals of a tensor, with the gradient deviation that a row would end with (nine zeros if none).
double tensor_signal(const gradient_table& gradients, std::size_t k, const std::array<double, 6>& tensor, double S0,
                     const std::array<double, 9>& deviation);

}  // namespace voxherd::reference
