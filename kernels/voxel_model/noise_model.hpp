#pragma once

namespace voxherd::voxel_model {

/// Distribution of the noise in a signal.
enum class noise_model { gaussian, rician };

}  // namespace voxherd::voxel_model
