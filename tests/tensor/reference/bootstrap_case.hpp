#pragma once

#include <cstdint>
#include <vector>

#include "kernels/tensor/bootstrap.hpp"
#include "tests/tensor/reference/tensor_reference.hpp"

namespace voxherd::reference {

/// Test bodies for every backend.

/// Tensors of replicates equal the reference's to float rounding; statuses are equal.
void expect_replicates_equivalent_to_reference(const device& d, const tensor_settings& settings);

/// A replicate of some voxels has the same bytes as among others, and after any previous request.
void expect_replicates_independent_of_company(const device& d);

/// For simulated voxels of one tensor at SNR 25, the replicates' deviation of FA and of each tensor element is that of
/// repeated noise, within the sampling error of both.
void expect_spread_of_repeated_noise(const device& d, const tensor_settings& settings);

}  // namespace voxherd::reference
