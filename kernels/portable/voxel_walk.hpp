#pragma once

#include "kernels/portable/function.hpp"

namespace voxherd {

/// Calls visit(voxel) for each voxel that the straight segment from `from` to `to` enters after voxel `at`, in order,
/// until it returns false (Amanatides & Woo 1987). Index coordinates; a voxel extends half a unit to each side of its
/// centre. `at` is the voxel of `from`, `last` that of `to`.
template <class Visit>
VOXHERD_FUNCTION inline void walk_voxels(const float (&from)[3], const float (&to)[3], const int (&at)[3],
                                         const int (&last)[3], Visit visit) {
  int voxel[3] = {at[0], at[1], at[2]};
  while (true) {
    int open = 0;  // axes along which the walk has not arrived
    VOXHERD_UNROLL for (int i = 0; i < 3; ++i) open += voxel[i] != last[i] ? 1 : 0;
    if (open == 0) return;
    int axis = -1;
    float nearest_crossing = 0;
    VOXHERD_UNROLL for (int i = 0; i < 3; ++i) {
      if (voxel[i] == last[i]) continue;
      const float side = static_cast<float>(voxel[i]) + (last[i] > voxel[i] ? 0.5f : -0.5f);
      // Most segments enter one voxel: the only axis needs no division.
      const float crossing = open == 1 ? 0.0f : (side - from[i]) / (to[i] - from[i]);
      if (axis >= 0 && !(crossing < nearest_crossing)) continue;
      axis = i;
      nearest_crossing = crossing;
    }
    // Not voxel[axis]: a run-time index would move the array from registers to memory.
    VOXHERD_UNROLL for (int i = 0; i < 3; ++i) {
      if (i == axis) voxel[i] += last[i] > voxel[i] ? 1 : -1;
    }
    if (!visit(voxel)) return;
  }
}

}  // namespace voxherd
