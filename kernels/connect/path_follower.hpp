#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/connect/path_walk.hpp"

namespace voxherd::connect {

/// Traces the path of request `index` back from the centre of its voxel to the start of its front with second-order
/// Runge-Kutta steps along the flow. A step that would leave the mask, or steps without progress towards the source,
/// are replaced by steps from voxel to voxel of decreasing arrival time, so that every path ends. One callable for
/// scores and for points, so that both take the same steps. Ignores requests for fronts outside [first, first +
/// fronts).
struct path_follower {
  lattice_view lattice;
  const flow* flows;           ///< 64 blocks per front, from front `first` on
  const front_start* started;  ///< of all fronts
  std::uint32_t first, fronts;
  const path_request* requests;
  const std::uint32_t* cell_of_number;  ///< of voxels as numbered in requests
  path_settings settings;
  float axes_mm[9];  ///< row-major
  float origin_mm[3];
  path_score* scores;            ///< one per request; null if not wanted
  const std::uint64_t* offsets;  ///< path i has points offsets[i] - offsets[0] to offsets[i + 1] - offsets[0] - 1
  float* world_mm;               ///< null if not wanted

  VOXHERD_FUNCTION void operator()(std::uint32_t index) const {
    const path_request request = requests[index];
    if (request.front < first || request.front - first >= fronts) return;
    int at[3];
    voxel_place(lattice, lattice.find_voxel[cell_of_number[request.voxel]], at);
    const path_reader read{lattice, flows + std::size_t{request.front - first} * lattice.blocks * block_cells};
    path_walk walk{read,
                   started[request.front],
                   settings,
                   {axes_mm, origin_mm, nullptr, 0, scores != nullptr, 0, 0, 0},
                   read.place_at(static_cast<float>(at[0]), static_cast<float>(at[1]), static_cast<float>(at[2]))};
    if (world_mm != nullptr) {
      walk.record.points_mm = world_mm + 3 * (offsets[index] - offsets[0]);
      walk.record.room = offsets[index + 1] - offsets[index];
    }
    walk.record.put(walk.here);
    const path_end end = walk.follow();
    if (scores != nullptr)
      scores[index] = {static_cast<float>(walk.record.length_mm), static_cast<float>(walk.record.cost),
                       walk.record.steps, end};
    while (++walk.record.steps < walk.record.room)
      walk.record.put(walk.here);  // more space than points: the settings differ from those of the scores
  }
};

}  // namespace voxherd::connect
