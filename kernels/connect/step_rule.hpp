#pragma once

#include "kernels/portable/function.hpp"

namespace voxherd::connect {

/// Whether a front may go straight from one voxel centre to another: all voxels that the segment passes through are in
/// the mask; where it passes exactly through an edge or a corner, one of the face-connected detours is also in the
/// mask. Components that are not connected by faces thus stay separate for steps of any length. Symmetric.
template <class Inside>
class step_rule {
 public:
  /// inside(x, y, z): whether a voxel is in the image and in the mask.
  VOXHERD_FUNCTION explicit step_rule(const Inside& inside) : inside_(inside) {}

  VOXHERD_FUNCTION bool operator()(int x, int y, int z, const int (&e)[3]) const {
    int at[3] = {x, y, z};
    if (!is_in(at)) return false;
    int count[3], towards[3], passed[3] = {0, 0, 0};
    for (int d = 0; d < 3; ++d) {
      count[d] = e[d] < 0 ? -e[d] : e[d];
      towards[d] = e[d] < 0 ? -1 : 1;
    }
    // The k-th face across axis d is crossed at (2 k + 1) / (2 count[d]).
    while (passed[0] < count[0] || passed[1] < count[1] || passed[2] < count[2]) {
      int next = -1;
      bool together[3] = {false, false, false};
      for (int d = 0; d < 3; ++d) {
        if (passed[d] == count[d]) continue;
        const int order = next < 0 ? -1 : (2 * passed[d] + 1) * count[next] - (2 * passed[next] + 1) * count[d];
        if (order > 0) continue;
        if (order < 0) together[0] = together[1] = together[2] = false;
        next = order < 0 ? d : next;
        together[d] = true;
      }
      if (!passes(at, together, towards)) return false;
      for (int d = 0; d < 3; ++d) {
        if (!together[d]) continue;
        at[d] += towards[d];
        ++passed[d];
      }
    }
    return true;
  }

 private:
  VOXHERD_FUNCTION bool is_in(const int (&p)[3]) const { return inside_(p[0], p[1], p[2]); }

  /// From `at` by one voxel along each of the axes in `together`, face by face in any order, always in the mask.
  VOXHERD_FUNCTION bool passes(const int (&at)[3], const bool (&together)[3], const int (&towards)[3]) const {
    // Bit d of a corner: moved along d. A corner is reached from those with one bit less.
    unsigned all = 0;
    for (int d = 0; d < 3; ++d) all |= together[d] ? 1u << d : 0u;
    bool reached[8] = {true, false, false, false, false, false, false, false};
    for (unsigned corner = 1; corner <= all; ++corner) {
      if ((corner & ~all) != 0) continue;
      const int p[3] = {at[0] + ((corner & 1) != 0 ? towards[0] : 0), at[1] + ((corner & 2) != 0 ? towards[1] : 0),
                        at[2] + ((corner & 4) != 0 ? towards[2] : 0)};
      bool before = false;
      for (unsigned d = 0; d < 3; ++d) before = before || ((corner >> d & 1) != 0 && reached[corner & ~(1u << d)]);
      reached[corner] = before && is_in(p);
    }
    return reached[all];
  }

  Inside inside_;
};

}  // namespace voxherd::connect
