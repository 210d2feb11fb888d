#pragma once

namespace voxherd::connect {

/// Arrival time where no front has come yet, and of a neighbour that there is not. Finite, so that differences of two
/// of them are no NaN; infinity takes its place on the way out.
inline constexpr float unreached = 1e30f;

}  // namespace voxherd::connect
