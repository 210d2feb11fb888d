#pragma once

#include "src/phantom/dwi_phantom.hpp"

namespace voxherd::bench {

/// `measurements` volumes, one in sixteen without weighting; the others at b = 2000 s/mm2 or, if there are more than
/// 100, in equal parts at 1000, 2000 and 3000.
inline gradient_table make_gradient_table(std::size_t measurements) {
  const std::size_t weighted = measurements - measurements / 16, third = weighted / 3;
  if (measurements <= 100) return make_gradients(measurements - weighted, {{2000, weighted}});
  return make_gradients(measurements - 3 * third, {{1000, third}, {2000, third}, {3000, third}});
}

}  // namespace voxherd::bench
