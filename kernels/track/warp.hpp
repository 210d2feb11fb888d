#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/portable/contract.hpp"
#include "kernels/portable/lane_math.hpp"

/// A call on a GPU: inlined, the lookup would take registers from the streamlines that need none.
#if defined(__CUDACC__)
#define VOXHERD_WARP_LOOKUP __noinline__
#else
#define VOXHERD_WARP_LOOKUP
#endif

namespace voxherd::track {

/// An affine map from voxels of one image to voxels of another.
struct point_map {
  float rows[3][4] = {};

  VOXHERD_FUNCTION float coordinate(const float (&p)[3], int d) const {
    const float* m = rows[d];
    return lane::fma(m[0], p[0], lane::fma(m[1], p[1], lane::fma(m[2], p[2], m[3])));
  }
};

/// A displacement, in voxels of the image to which it leads.
struct alignas(16) displacement {
  float along[3];
  float unused = 0;
};

/// Displacements at the points of a grid, linear between them. The outermost points have none, so that there is none
/// outside either.
struct displacement_field {
  std::int32_t size[3] = {};
  const displacement* values = nullptr;  ///< (nz, ny, nx), at least 2 along each axis; null: no displacements
  point_map to_field;                    ///< from voxels of the image where points are to those of the grid

  /// Adds the displacement at a point. Neighbours along x are 32 bytes: the eight corners are in four to eight memory
  /// sectors, six on average. The rest is 24 subtractions and 30 fma.
  VOXHERD_FUNCTION VOXHERD_WARP_LOOKUP void add(const float (&p)[3], float (&to)[3]) const {
    std::size_t corner = 0;
    float share[3];
    for (int d = 2; d >= 0; --d) {
      assert(size[d] >= 2);
      const float last = static_cast<float>(size[d] - 1);
      float at = to_field.coordinate(p, d);
      at = at > 0 ? at : 0;
      at = at < last ? at : last;
      const float low = lane::floor(at);
      std::int32_t cell = static_cast<std::int32_t>(low);
      cell = cell < size[d] - 1 ? cell : size[d] - 2;
      share[d] = at - static_cast<float>(cell);
      corner = corner * static_cast<std::size_t>(size[d]) + static_cast<std::size_t>(cell);
    }
    const auto row = static_cast<std::size_t>(size[0]), slice = row * static_cast<std::size_t>(size[1]);
    const displacement* v = values + corner;
    const displacement c[8] = {v[0],     v[1],         v[row],         v[row + 1],
                               v[slice], v[slice + 1], v[slice + row], v[slice + row + 1]};
    for (int d = 0; d < 3; ++d) {
      const float near = between(between(c[0].along[d], c[1].along[d], share[0]),
                                 between(c[2].along[d], c[3].along[d], share[0]), share[1]);
      const float far = between(between(c[4].along[d], c[5].along[d], share[0]),
                                between(c[6].along[d], c[7].along[d], share[0]), share[1]);
      to[d] += between(near, far, share[2]);
    }
  }

 private:
  VOXHERD_FUNCTION static float between(float a, float b, float share) { return lane::fma(share, b - a, a); }
};

/// A map from voxels of one image to voxels of another, which may be a warp.
struct point_warp {
  point_map affine;
  displacement_field field;

  VOXHERD_FUNCTION void map(const float (&p)[3], float (&to)[3]) const {
    for (int d = 0; d < 3; ++d) to[d] = affine.coordinate(p, d);
    if (field.values != nullptr) field.add(p, to);
  }
};

}  // namespace voxherd::track
