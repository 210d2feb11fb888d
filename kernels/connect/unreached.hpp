#pragma once

namespace voxherd::connect {

/// Arrival time of cells not reached yet and of missing neighbours. Finite, so that the difference of two of them is
/// not NaN; replaced by infinity in the output.
inline constexpr float unreached = 1e30f;

}  // namespace voxherd::connect
