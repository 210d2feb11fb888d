#pragma once

#include <cstdint>

#include "kernels/portable/function.hpp"

namespace voxherd::track {

/// The masks that a half may enter and pass, but not leave; one bit each. A half that starts inside one may leave it
/// once.
class mask_exits {
 public:
  VOXHERD_FUNCTION void begin(std::uint32_t at_start) {
    excused_ = at_start;
    entered_ = 0;
  }

  /// Moves to a point that is in the masks `here`. Returns false if it has left one.
  VOXHERD_FUNCTION bool move(std::uint32_t here) {
    if ((entered_ & ~here) != 0) return false;
    excused_ &= here;
    entered_ |= here & ~excused_;
    return true;
  }

 private:
  std::uint32_t excused_ = 0;  ///< masks in which the half has been since its start
  std::uint32_t entered_ = 0;
};

}  // namespace voxherd::track
