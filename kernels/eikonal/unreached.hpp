#pragma once

namespace voxherd::eikonal {

/// Arrival times from here on are none: no front came by, or there is no such voxel. Finite, so that differences of two
/// of them are numbers.
inline constexpr float unreached = 1e30f;

}  // namespace voxherd::eikonal
