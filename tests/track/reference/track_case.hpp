#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/track/tracker.hpp"
#include "tests/track/reference/track_meshes.hpp"

namespace voxherd::track {

/// A box of voxels of which each has samples, except in its outermost layer.
struct track_case {
  track_case(std::array<std::int32_t, 3> box, std::int32_t samples, std::int32_t fibres);

  std::size_t index(int x, int y, int z) const;
  /// Sets fibre k of every sample in every voxel: unit vector and volume fraction.
  using direction_at = std::function<std::array<double, 3>(int x, int y, int z, int sample)>;
  void set_fibre(int k, double fraction, const direction_at& at);
  /// Sets bits of a voxel's marks.
  void set_marks(int x, int y, int z, std::uint32_t bits) { voxels[index(x, y, z)].marks |= bits; }
  void add_seed(int x, int y, int z, std::uint32_t region = 0);

  /// Columns of the counts by seed, and the row of a seed among those of case_counts.
  std::uint32_t columns() const { return regions > 0 ? regions : static_cast<std::uint32_t>(targets.size()); }
  std::size_t row(std::size_t seed_number) const { return regions > 0 ? seeds[seed_number].region - 1 : seed_number; }

  /// Makes cubes of 2 voxels the columns of a matrix.
  void set_coarse_matrix();
  /// Makes the seeds the columns of a matrix.
  void set_seed_matrix();
  /// Makes cubes of 2 voxels of the samples' image, by fibre, the columns of a matrix.
  void set_fibre_matrix();

  /// Moves masks and counts to an image that a warp connects with that of the samples: turned, and with sines.
  void set_warp();

  field_view view() const;
  /// Refers to the case and keeps what it needs in it.
  track_input input(std::uint64_t per_seed, std::uint64_t per_group) const;

  std::array<std::int32_t, 3> size;
  walk_settings how;  ///< step 0.5 voxel, curvature 0.2
  std::uint32_t regions = 0;
  std::vector<std::uint32_t> exits;               ///< by voxel; empty for none
  std::vector<std::vector<std::size_t>> targets;  ///< voxels of each; not together with regions
  column_grid matrix;                             ///< without columns unless set_matrix() is called
  std::vector<voxel_info> voxels;
  seed_space space;                     ///< without voxels unless set_warp() is called
  std::vector<voxel_info> mask_voxels;  ///< its voxels
  std::vector<packed_fibre> fibres;
  std::vector<seed> seeds;
  std::shared_ptr<const track_mesh> mesh;  ///< null: no surfaces

 private:
  std::vector<std::int32_t> matrix_columns_;
  std::vector<displacement> to_samples_, to_seeds_;
  mutable std::vector<std::uint32_t> target_begin_, target_list_;
};

/// Counts over all groups.
struct case_counts {
  std::vector<std::uint64_t> density, length, accepted, hits, hit_length, directions;
  std::uint64_t walked = 0;
  bool operator==(const case_counts&) const = default;
};
case_counts count_on(const device& d, const track_case& c, std::uint64_t per_seed, std::uint64_t per_group,
                     const matrix_parts& parts = {});
case_counts count_on_cpu(const track_case& c, std::uint64_t per_seed, std::uint64_t per_group, int threads);

/// The same counts, all zero.
case_counts no_counts(const track_case& c);

/// Two fibres per sample that bend and cross, with directions that scatter from sample to sample. Twelve seeds.
track_case bent_case();

/// The same with two masks to include, a stop mask and, if `combination` is odd, a mask to exclude. 0: masks to include
/// do not matter; 2: one is enough; 3: one, by each half for itself; 4: all in order; others: all.
track_case bent_case_with_conditions(int combination);

/// Expects the same counts and the same parts of its matrix, whether they are drawn together or separately.
void expect_parts_drawn_with_counts(const device& d, track_case c);

/// bent_case() with surfaces: to stop at, to exclude, to include, to walk through once, and a target; half of the seeds
/// are vertices.
track_case bent_case_with_surfaces();

}  // namespace voxherd::track
