#pragma once

#include <cstdint>
#include <span>

#include "kernels/track/matrix.hpp"
#include "kernels/track/point_map.hpp"
#include "kernels/track/settings.hpp"

namespace voxherd::track {

/// A direction on the image's axes, the first one negated if the determinant of the voxel-to-world matrix is positive
/// (FSL's bvec frame); in units of 1 / direction_unit.
struct direction {
  std::int32_t x = 0, y = 0, z = 0;
  VOXHERD_FUNCTION direction operator-() const { return {-x, -y, -z}; }
  VOXHERD_FUNCTION bool is_zero() const { return x == 0 && y == 0 && z == 0; }
};

/// Exact: two unit directions give at most direction_unit^2, with rounding, half of what an int32 holds.
VOXHERD_FUNCTION inline std::int32_t dot(const direction& a, const direction& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// One fibre of one posterior sample. All zero: there is none, and a streamline ends.
struct alignas(8) packed_fibre {
  std::int16_t x, y, z;
  std::uint16_t fraction;
  VOXHERD_FUNCTION direction axis() const { return {x, y, z}; }
};

/// Bits of voxel_info::marks.
namespace mark {
constexpr std::uint32_t inside = 1;  ///< has samples
constexpr std::uint32_t avoid = 2;
constexpr std::uint32_t stop = 4;
constexpr int first_waypoint = 3;  ///< shift; max_waypoints bits
constexpr int region = 16;         ///< shift of the number of the voxel's region, from 1; 0: none
}  // namespace mark

struct voxel_info {
  std::int32_t place;   ///< row of the voxel's counts or samples; -1 where no streamline comes
  std::uint32_t marks;  ///< bits of namespace mark
};

/// The image of the seeds, masks and counts, if it is not that of the samples.
struct seed_space {
  std::int32_t size[3] = {};
  const voxel_info* voxels = nullptr;  ///< (nz, ny, nx); null: the samples' image has all of this
  point_map to_seeds, to_samples;      ///< between voxels of the two images

  /// The voxel at a point in voxels of the samples' image.
  VOXHERD_FUNCTION voxel_info find(const float (&p)[3]) const {
    std::size_t at = 0;
    for (int d = 2; d >= 0; --d) {
      const auto voxel = static_cast<std::int32_t>(lane::floor(to_seeds.coordinate(p, d) + 0.5f));
      if (voxel < 0 || voxel >= size[d]) return {-1, 0};
      at = at * static_cast<std::size_t>(size[d]) + static_cast<std::size_t>(voxel);
    }
    return voxels[at];
  }
};

/// Where streamlines run, in the memory of the device that draws them.
struct field_view {
  std::int32_t size[3];                         ///< of the image
  const voxel_info* voxels;                     ///< (nz, ny, nx)
  const packed_fibre* fibres;                   ///< (place, sample, fibre), for the voxels inside
  std::uint32_t places;                         ///< of the counts
  const std::uint32_t* exits = nullptr;         ///< by place: the masks not to leave, one bit each; null for none
  const std::uint32_t* target_begin = nullptr;  ///< place i is in targets[target_begin[i] ... target_begin[i + 1] - 1]
  const std::uint32_t* targets = nullptr;
  column_grid matrix = {};        ///< without columns unless rows of a matrix are counted
  column_grid pair_columns = {};  ///< of pairs whose rows are `matrix`; without columns: pairs of `matrix` alone
  seed_space space = {};
};

struct seed {
  std::int32_t voxel[3];
  std::uint32_t index;   ///< of the voxel in the image: keys the random numbers
  std::uint32_t region;  ///< number of its region in a network, from 1; else 0
};

/// Packs the directions and fractions of `count` fibres. An angle of exactly 0 marks a voxel without samples, as in
/// FSL's files, and gives zeros. Angles may have any size.
void pack_fibres(std::span<const float> polar, std::span<const float> azimuth, std::span<const float> fraction,
                 packed_fibre* packed, std::size_t stride, int threads);

}  // namespace voxherd::track
