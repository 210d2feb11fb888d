#pragma once

#include "kernels/portable/gradient_table.hpp"

namespace voxherd::voxel_model {

/// A voxel's true gradients (I + L) g; b grows by their squared length. `deviation`: L, nine numbers in FSL's grad_dev
/// order, column by column.
gradient_table deviated(const gradient_table& nominal, const float* deviation);

}  // namespace voxherd::voxel_model
