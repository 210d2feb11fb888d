#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxherd::perfusion {

/// The frames of a dynamic series and the two input curves at them. Before the first frame the inputs rise linearly
/// from 0, one frame earlier. After the last frame they keep its value.
struct time_course {
  std::vector<double> time_s;    ///< increasing
  std::vector<double> arterial;  ///< concentration in blood, mM (or HU)
  std::vector<double> portal;
  std::vector<std::uint8_t> counts;  ///< 1: the frame is fitted; 0: missing or padded, not part of any cost

  std::size_t frames() const { return time_s.size(); }
  std::size_t counted() const;
  /// The distance of even frames; 0 if any frame differs from an even grid by more than 1 % of the distance.
  double spacing_s() const;
};

}  // namespace voxherd::perfusion
