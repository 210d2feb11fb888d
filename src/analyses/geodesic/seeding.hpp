#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kernels/geodesic/tracker.hpp"
#include "kernels/tensor_field/field.hpp"
#include "src/scan/region_reader.hpp"
#include "src/scan/tensor_source.hpp"

namespace voxherd {

enum class seeding_kind {
  center,  ///< one in the middle of each voxel
  random,  ///< uniform in each voxel, drawn by the voxel's index and the seed's number in it
  grid,    ///< a regular grid in each voxel
};

struct seeding_settings {
  seeding_kind kind = seeding_kind::center;
  std::uint32_t per_voxel = 1;  ///< random: seeds of a voxel; grid: along each axis
  std::uint64_t random_seed = 0;
  std::vector<std::int32_t> labels;  ///< labels of --seed-image; empty: all above 0
};

/// Seeds in the order of their voxels in memory (slice after slice), so that neighbours in the list are neighbours in
/// the image.
struct seed_list {
  std::vector<geodesic::seed> seeds;
  std::uint64_t outside = 0;  ///< requested points without a tensor; left out
  std::uint64_t voxels = 0;   ///< of the image of seeds; 0 for points and vertices
};

/// Seeds in the voxels with linear indices `voxels`, increasing. A seed is in its voxel, but not beyond the centres of
/// the image's outermost voxels, where interpolation ends. Its axis is the main eigenvector of the tensor interpolated
/// linearly over the voxels inside, with the sign that makes its largest component positive.
seed_list seeds_in_voxels(const std::vector<std::uint64_t>& voxels, const tensor_field::tensor_image& image,
                          const seeding_settings& how);

/// Seeds at world coordinates, mm: x, y, z of each in turn.
seed_list seeds_at_points(const std::vector<double>& points_mm, const tensor_field::tensor_image& image,
                          const image_grid& grid);

/// The same in index coordinates.
seed_list seeds_at_places(const std::vector<vector3>& places, const tensor_field::tensor_image& image);

/// Seeds from the request's file of points, image or surface, whose vertices are seeds; by one process. Logs counts and
/// adds fingerprints to `provenance`. Throws failure (missing_input, bad_data): an invalid file, or no seed inside.
std::vector<geodesic::seed> read_seeds(const std::string& points_file, const std::string& image_file,
                                       const seeding_settings& how, const tensor_source& tensors, region_reader& reader,
                                       nlohmann::json& provenance);

}  // namespace voxherd
