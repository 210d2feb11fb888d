#pragma once

#include <cstdint>

#include "kernels/track/surfaces.hpp"

namespace voxherd::track {

/// What a step crosses.
struct met_surfaces {
  std::uint32_t marks = 0, exits = 0;  ///< of all surfaces together; the marks without a region
  std::uint32_t other_region = 0;      ///< a region other than the seed's; 0: none
  bool any = false;
  /// On a GPU: how many triangles are crossed, and their numbers. Null: they must be searched again.
  std::uint32_t crossed = 0;
  const std::uint32_t* numbers = nullptr;

  VOXHERD_FUNCTION void add(const surface_use& use, std::uint32_t own_region) {
    constexpr std::uint32_t not_region = 0xffff;
    any = true;
    marks |= use.marks & not_region;
    exits |= use.exits;
    const std::uint32_t region = use.marks >> 16;
    if (region != 0 && region != own_region) other_region = region;
  }
};

/// Threads per block of the kernels that draw streamlines.
constexpr unsigned walk_threads = 128;

#if defined(__CUDA_ARCH__)

/// Tests the triangles near the steps of some lanes of a warp, one step after another, with a triangle for each of the
/// lanes that run together: few steps are near triangles, and those that are would keep the other streamlines waiting.
/// `near`: lanes whose steps are near triangles. A lane writes and reads only its own list of numbers.
__device__ __noinline__ met_surfaces meet_surfaces_of_warp(const surface_view* s, step_line line,
                                                           std::uint32_t own_region, std::uint32_t lanes,
                                                           std::uint32_t near) {
  constexpr std::uint32_t max_numbers = 8;
  __shared__ std::uint32_t numbers[walk_threads][max_numbers];
  const std::uint32_t lane = threadIdx.x % 32, before = lanes & ((1u << lane) - 1), rank = __popc(before);
  met_surfaces met;
  for (; near != 0; near &= near - 1) {
    const std::uint32_t from = __ffs(near) - 1;
    step_line step;
    for (int d = 0; d < 3; ++d)
      step.from[d] = __shfl_sync(lanes, line.from[d], from), step.to[d] = __shfl_sync(lanes, line.to[d], from);
    const std::uint32_t region = __shfl_sync(lanes, own_region, from);
    met_surfaces own;
    std::uint32_t crossed = 0;
    near_triangles candidates(*s, step);
    while (candidates.next_voxel(*s))
      for (std::uint32_t first = candidates.begin(); first < candidates.end(); first += __popc(lanes)) {
        surface_triangle triangle;
        std::uint32_t number = 0;
        const bool meets = first + rank < candidates.end() && candidates.meet(*s, first + rank, triangle, number);
        if (meets) own.add(s->uses[triangle.surface], region);
        for (std::uint32_t found = __ballot_sync(lanes, meets); found != 0; found &= found - 1, ++crossed) {
          const std::uint32_t next = __shfl_sync(lanes, number, __ffs(found) - 1);
          if (lane == from && crossed < max_numbers) numbers[threadIdx.x][crossed] = next;
        }
      }
    own.marks = __reduce_or_sync(lanes, own.marks);
    own.exits = __reduce_or_sync(lanes, own.exits);
    own.other_region = __reduce_max_sync(lanes, own.other_region);
    if (lane != from) continue;
    met = own;
    met.any = crossed > 0;
    met.crossed = crossed;
    met.numbers = crossed <= max_numbers ? numbers[threadIdx.x] : nullptr;
  }
  return met;
}

#endif

/// `near`: whether the line may meet a triangle. On a GPU the lanes of a warp that run together do this together.
VOXHERD_FUNCTION inline met_surfaces meet_surfaces(const surface_view& surfaces, const step_line& line,
                                                   std::uint32_t own_region, bool near) {
  met_surfaces met;
#if defined(__CUDA_ARCH__)
  const std::uint32_t lanes = __activemask(), any = __ballot_sync(lanes, near);
  if (any != 0) met = meet_surfaces_of_warp(&surfaces, line, own_region, lanes, any);
#else
  if (!near) return met;
  surface_search search(surfaces, line);
  surface_triangle triangle;
  for (std::uint32_t number = 0; search.find_next(surfaces, triangle, number);)
    met.add(surfaces.uses[triangle.surface], own_region);
#endif
  return met;
}

}  // namespace voxherd::track
