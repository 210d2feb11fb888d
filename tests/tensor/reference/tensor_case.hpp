#pragma once

#include <vector>

#include "tests/tensor/reference/tensor_reference.hpp"

namespace voxherd::reference {

/// 4 volumes at b=0, 20 directions at b=1000, 25 at b=2500.
gradient_table two_shells();

/// Noisy voxels of random tensors, including every kind of voxel that cannot be fitted.
std::vector<float> uneven_voxels(const gradient_table& g, std::size_t count, bool gradient_deviation);

/// One test body for every backend: each result of the backend equals the reference's to float rounding.
void expect_equivalent_to_reference(const device& d, const tensor_settings& settings);

/// Rows and columns of the same signals give the same bytes.
void expect_same_bytes_in_both_layouts(const device& d, bool gradient_deviation);

/// A tensor whose mean diffusivity is negative has the status `not_physical` and its values; others are `fitted`.
void expect_flags_negative_diffusivity(const device& d);

}  // namespace voxherd::reference
