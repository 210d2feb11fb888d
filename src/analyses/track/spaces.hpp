#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kernels/track/field.hpp"
#include "src/analyses/track/options.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

/// An affine map between the voxels of two images.
struct voxel_map {
  matrix3 axes{1, 0, 0, 0, 1, 0, 0, 0, 1};
  vector3 origin{};

  vector3 operator()(const vector3& voxel) const;
  voxel_map inverse() const;
  bool is_identity() const;
  track::point_map rounded() const;
};

/// The first map, then the second.
voxel_map product(const voxel_map& first, const voxel_map& second);

/// The map by world coordinates.
voxel_map map_by_world(const image_grid& from, const image_grid& to);

/// The image of the seeds, masks and counts.
struct track_space {
  fsl_grid grid;
  bool is_separate = false;  ///< not simply the samples' image
  voxel_map to_samples, to_seeds;
};

/// The space that --seedref and --xfm ask for. Adds the files to `provenance`. On one process. Throws failure.
track_space read_track_space(const track_request& request, const fsl_grid& samples, nlohmann::json& provenance);

}  // namespace voxherd
