#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "kernels/portable/contract.hpp"
#include "kernels/portable/lane_math.hpp"
#include "kernels/track/settings.hpp"
#include "kernels/track/surfaces.hpp"
#include "kernels/track/warp.hpp"

namespace voxherd::track {

/// A voxel has three columns in a matrix by fibre: one counts the streamlines that follow fibre 1 in the voxel, one
/// those that follow fibre 2, and one those that follow any other fibre.
constexpr std::uint32_t fibre_columns = 3;

/// The voxels that are the columns of a matrix, in an image of their own, or the vertices of surfaces.
struct column_grid {
  std::int32_t size[3] = {};
  point_map to_voxel;                           ///< from voxels of the seeds' image
  const std::int32_t* column = nullptr;         ///< (nz, ny, nx): number of the voxel's column; -1: none
  const std::int32_t* vertex_column = nullptr;  ///< column of each vertex of the surfaces; -1: none; null: of all
  std::uint32_t columns = 0;
  bool square = false;       ///< column i is seed i; it is not counted in its own row
  bool after_start = false;  ///< the seed itself is not a point in a column
  /// `to_voxel` is from voxels of the samples' image, and each voxel has fibre_columns columns: `columns` are so many
  /// times the numbers in `column`.
  bool by_fibre = false;
  bool at_ends = false;  ///< streamlines reach columns with their two ends only: see find_nearest()
  float end_radius_mm = 0;
  float voxel_mm[3] = {};

  /// The column of a point in voxels of the seeds' image, or of the samples'; -1: none.
  VOXHERD_FUNCTION std::int32_t find(const float (&p)[3]) const {
    std::size_t at = 0;
    for (int d = 2; d >= 0; --d) {
      const auto voxel = static_cast<std::int32_t>(lane::floor(to_voxel.coordinate(p, d) + 0.5f));
      if (voxel < 0 || voxel >= size[d]) return -1;
      at = at * static_cast<std::size_t>(size[d]) + static_cast<std::size_t>(voxel);
    }
    assert(column[at] < static_cast<std::int32_t>(columns));
    return column[at];
  }

  /// The column of the point's voxel; if it has none, that of the nearest centre of a voxel with a column, closer than
  /// end_radius_mm; -1: none. As tck2connectome's radial search (Smith 2015, NeuroImage 104:253).
  VOXHERD_FUNCTION std::int32_t find_nearest(const float (&p)[3]) const {
    std::int32_t nearest = find(p);
    if (nearest >= 0 || !(end_radius_mm > 0)) return nearest;
    float at[3];
    std::int32_t first[3], last[3];
    for (int d = 0; d < 3; ++d) {
      const float reach = end_radius_mm / voxel_mm[d];
      at[d] = to_voxel.coordinate(p, d);
      first[d] = static_cast<std::int32_t>(lane::floor(at[d] - reach));
      last[d] = static_cast<std::int32_t>(lane::floor(at[d] + reach));
      first[d] = first[d] > 0 ? first[d] : 0;
      last[d] = last[d] < size[d] ? last[d] : size[d] - 1;
    }
    float smallest_mm2 = end_radius_mm * end_radius_mm;
    for (std::int32_t z = first[2]; z <= last[2]; ++z)
      for (std::int32_t y = first[1]; y <= last[1]; ++y)
        for (std::int32_t x = first[0]; x <= last[0]; ++x) {
          const float dx = (static_cast<float>(x) - at[0]) * voxel_mm[0],
                      dy = (static_cast<float>(y) - at[1]) * voxel_mm[1],
                      dz = (static_cast<float>(z) - at[2]) * voxel_mm[2];
          const float mm2 = lane::fma(dx, dx, lane::fma(dy, dy, dz * dz));
          if (!(mm2 < smallest_mm2)) continue;
          const std::size_t row =
              static_cast<std::size_t>(z) * static_cast<std::size_t>(size[1]) + static_cast<std::size_t>(y);
          const std::int32_t there = column[row * static_cast<std::size_t>(size[0]) + static_cast<std::size_t>(x)];
          if (there >= 0) nearest = there, smallest_mm2 = mm2;
        }
    return nearest;
  }
};

constexpr std::uint32_t no_triangle = 0xffffffff;

/// A voxel or vertex of a matrix on a streamline.
struct crossing {
  std::uint32_t column;  ///< column of field_view::matrix, or that many and the column of pair_columns
  std::int32_t steps;    ///< from the seed to the first point there; negative on the second half
  /// The only triangle by which the streamline reaches the vertex; no_triangle: there are several, or it is a voxel.
  std::uint32_t triangle = no_triangle;
};

/// Two corners of a triangle that a streamline crosses are not connected by it.
VOXHERD_FUNCTION inline bool are_of_one_triangle(const crossing& a, const crossing& b) {
  return a.triangle == b.triangle && a.triangle != no_triangle;
}

/// Two voxels of a matrix that streamlines connect. Entries are in the order of their keys.
struct pair_entry {
  std::uint64_t key;  ///< row, of one mask the smaller one, and column: row << 32 | column
  std::uint64_t count;
  std::uint64_t steps;  ///< sum of the lengths between them

  static constexpr auto members() {
    using T = pair_entry;
    return std::tuple(&T::key, &T::count, &T::steps);
  }
  bool operator==(const pair_entry&) const = default;
};

/// Whether two crossings of a streamline are a pair. `rows`: if not 0, only if one is below it, which is the row, and
/// one is not.
VOXHERD_FUNCTION inline bool make_pair(const crossing& a, const crossing& b, std::uint32_t rows, std::uint64_t& key,
                                       std::uint32_t& steps) {
  const bool a_first = a.column < b.column;
  const std::uint64_t first = a_first ? a.column : b.column, second = a_first ? b.column : a.column;
  if (rows > 0 && (first >= rows || second < rows)) return false;
  if (are_of_one_triangle(a, b)) return false;
  const std::int32_t between = a.steps - b.steps;
  key = first << 32 | (second - rows);
  steps = static_cast<std::uint32_t>(between < 0 ? -between : between);
  return true;
}

/// Calls sink(key, steps) for each pair of a streamline.
template <class Sink>
void for_each_pair(const crossing* all, std::uint32_t count, std::uint32_t rows, const Sink& sink) {
  std::uint64_t key = 0;
  std::uint32_t steps = 0;
  for (std::uint32_t i = 1; i < count; ++i)
    for (std::uint32_t k = 0; k < i; ++k)
      if (make_pair(all[i], all[k], rows, key, steps)) sink(key, steps);
}

/// Sorts entries and adds up those with the same key. `reduced`: so many at the beginning are that already.
void reduce_pairs(std::vector<pair_entry>& entries, std::size_t reduced = 0);

/// Rows of a sparse matrix (compressed sparse rows): row i has entries begin[i] to begin[i + 1] - 1, by column.
struct sparse_rows {
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint32_t> column, count;
  std::vector<std::uint64_t> steps;  ///< sum of the lengths from the seed
};

/// A direction on the axes of the samples' image in FSL's storage (FSL's bvec frame); in units of 1 / direction_unit.
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
  VOXHERD_FUNCTION bool operator==(const packed_fibre& other) const {
    return x == other.x && y == other.y && z == other.z && fraction == other.fraction;
  }
};

/// Bits of voxel_info::marks.
namespace mark {
constexpr std::uint32_t inside = 1;  ///< has samples
constexpr std::uint32_t exclude = 2;
constexpr std::uint32_t stop = 4;
constexpr int first_include = 3;  ///< shift; max_includes bits
constexpr int region = 16;        ///< shift of the number of the voxel's region, from 1; 0: none
}  // namespace mark

struct voxel_info {
  std::int32_t place;   ///< row of the voxel's counts or samples; -1 where no streamline comes
  std::uint32_t marks;  ///< bits of namespace mark

  static constexpr auto members() {
    using T = voxel_info;
    return std::tuple(&T::place, &T::marks);
  }
};

/// The image of the seeds, masks and counts, if it is not that of the samples.
struct seed_space {
  std::int32_t size[3] = {};
  const voxel_info* voxels = nullptr;  ///< (nz, ny, nx); null: the samples' image has all of this
  point_warp to_seeds, to_samples;     ///< between voxels of the two images

  /// The voxel at a point in voxels of this image.
  VOXHERD_FUNCTION voxel_info find(const float (&p)[3]) const {
    std::size_t at = 0;
    for (int d = 2; d >= 0; --d) {
      const auto voxel = static_cast<std::int32_t>(lane::floor(p[d] + 0.5f));
      if (voxel < 0 || voxel >= size[d]) return {-1, 0};
      at = at * static_cast<std::size_t>(size[d]) + static_cast<std::size_t>(voxel);
    }
    return voxels[at];
  }
};

/// Where streamlines run, in the memory of the device that draws them.
struct field_view {
  std::int32_t size[3];                         ///< size of the image
  const voxel_info* voxels;                     ///< (nz, ny, nx)
  const packed_fibre* fibres;                   ///< (place, sample, fibre), for the voxels inside
  std::uint32_t places;                         ///< number of places of the counts
  const std::uint32_t* exits = nullptr;         ///< masks not to leave, one bit each, by place; null for none
  const std::uint32_t* target_begin = nullptr;  ///< place i is in targets[target_begin[i] ... target_begin[i + 1] - 1]
  const std::uint32_t* targets = nullptr;
  column_grid matrix = {};        ///< without columns unless rows of a matrix are counted
  column_grid pair_columns = {};  ///< columns if rows are `matrix`; none: pairs of `matrix` alone
  seed_space space = {};
  surface_view surfaces = {};

  bool has_special_matrix() const {
    return matrix.by_fibre || pair_columns.by_fibre || matrix.at_ends || surfaces.one_corner;
  }
};

struct seed {
  float position[3];     ///< in voxels of the seeds' image
  std::uint32_t index;   ///< of its voxel in this image: keys the random numbers
  std::uint32_t region;  ///< number of its region in a connectome, from 1; else 0

  static constexpr auto members() {
    using T = seed;
    return std::tuple(&T::position, &T::index, &T::region);
  }
};

/// What values were packed: how many, and how many cannot be samples.
struct packed_values {
  std::uint64_t values = 0;                   ///< of each kind
  std::array<std::uint64_t, 3> not_finite{};  ///< polar angles, azimuths, fractions: NaN, or above largest_sample
  std::array<std::uint64_t, 2> wide{};        ///< polar angles, azimuths beyond a full turn
  std::uint64_t no_share = 0;                 ///< fractions outside 0 to 1, beyond rounding
  std::uint64_t unequal = 0;                  ///< azimuths that differ from their polar angle
  std::uint64_t changes = 0;                  ///< polar angles that differ from the first one
  packed_values& operator+=(const packed_values& other);
};
constexpr float largest_sample = 1e6f;

/// Packs the directions and fractions of fibres. An angle of exactly 0 marks a voxel without samples, as in FSL's
/// files, and gives zeros. Angles may have any size.
packed_values pack_fibres(std::span<const float> polar, std::span<const float> azimuth, std::span<const float> fraction,
                          packed_fibre* packed, std::size_t stride, int threads);

/// Of `count` samples, `stride` apart, those whose fractions add up to more than 1, beyond rounding.
std::uint64_t count_overfull(const packed_fibre* packed, std::size_t count, std::size_t stride, std::size_t fibres);

}  // namespace voxherd::track
