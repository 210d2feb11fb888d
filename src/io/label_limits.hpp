#pragma once

#include <cstdint>
#include <limits>

namespace voxherd {

/// Labels are int32, as in GIFTI and in MRtrix. Atlases of the Allen Institute have labels up to 614,454,277.
inline constexpr std::int32_t largest_label = std::numeric_limits<std::int32_t>::max();
/// The largest label of a file whose values are float32, which represents every integer up to this.
inline constexpr std::int32_t largest_float_label = 1 << 24;

}  // namespace voxherd
