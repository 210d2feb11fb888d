#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "core/device.hpp"
#include "kernels/track/field.hpp"
#include "kernels/track/tally_list.hpp"

namespace voxherd::track {

/// Streamlines are numbered seed after seed and cut into groups of equal size, which are the items of the run.
struct group_plan {
  std::uint64_t seeds = 0, per_seed = 0;
  std::uint64_t per_group = 1;
  std::uint64_t min_rows = 0;  ///< rows by seed of a group, if more than it has seeds

  static constexpr auto members() {
    using T = group_plan;
    return std::tuple(&T::seeds, &T::per_seed, &T::per_group, &T::min_rows);
  }

  VOXHERD_FUNCTION std::uint64_t streamlines() const { return seeds * per_seed; }
  VOXHERD_FUNCTION std::uint64_t groups() const { return (streamlines() + per_group - 1) / per_group; }
  VOXHERD_FUNCTION std::uint64_t first_seed(std::uint64_t group) const { return group * per_group / per_seed; }
  /// Whether no group has only a part of a seed's streamlines.
  VOXHERD_FUNCTION bool has_whole_seeds() const { return per_group % per_seed == 0; }
  /// Rows by seed of a group: at least as many as the seeds that it may have a part of.
  VOXHERD_FUNCTION std::uint64_t seed_rows() const {
    const std::uint64_t touched = (per_group + per_seed - 2) / per_seed + 1;
    const std::uint64_t needed = touched < seeds ? touched : seeds;
    return needed > min_rows ? needed : min_rows;
  }
};

/// What a tracker reads, in host memory that outlives it.
struct track_input {
  std::int32_t size[3] = {};
  std::span<const voxel_info> voxels;
  std::span<const packed_fibre> fibres;
  std::span<const std::uint32_t> exits, target_begin, targets;  ///< tables of field_view; empty for none
  column_grid matrix, pair_columns;                             ///< their arrays are in host memory
  seed_space space;                                             ///< likewise
  surface_input surfaces;
  std::uint32_t places = 0;
  std::uint32_t columns = 0;  ///< number of columns of the counts by seed: regions or targets
  std::span<const seed> seeds;
  walk_settings how;
  group_plan plan;
};

/// Parts of a matrix that are found while streamlines are counted, added to these; null for what is not wanted.
struct matrix_parts {
  sparse_rows* rows = nullptr;  ///< one row per seed; groups must have all streamlines of a seed
  std::vector<std::vector<pair_entry>>* pairs = nullptr;  ///< one list per group

  bool wanted() const { return rows != nullptr || pairs != nullptr; }
};

/// Draws streamlines on one device; used by one thread. Throws device_error; device_out_of_memory where fewer groups
/// may fit.
class tracker {
 public:
  virtual ~tracker() = default;

  /// Sums of groups [first, first + count), one row per group in each array of `out`.
  virtual void track(std::uint64_t first, std::size_t count, const counters& out, const matrix_parts& parts = {}) = 0;

  /// The matrix' rows of seeds [first, first + count), added to `out`.
  virtual void track_rows(std::uint64_t first, std::size_t count, sparse_rows& out) = 0;

  /// The pairs of the matrix' voxels on the streamlines of group number `group`.
  virtual void track_pairs(std::uint64_t group, std::vector<pair_entry>& out) = 0;

  /// Draws other streamlines through the same samples from now on: `input` has other masks, seeds, settings and groups.
  virtual void change_streamlines(const track_input& input) = 0;

  /// Frees the device memory that is kept from one call to the next.
  virtual void release_memory() {}
};

/// After use_device(d).
std::unique_ptr<tracker> make_tracker(const device& d, const track_input& input);

// Its backends.
std::unique_ptr<tracker> make_tracker_cpu(const device& d, const track_input& input);
std::unique_ptr<tracker> make_tracker_cuda(const track_input& input);

inline surface_view host_surfaces(const track_input& in) {
  const surface_input& from = in.surfaces;
  surface_view to;
  if (from.cell_begin.empty()) return to;
  for (int d = 0; d < 3; ++d) {
    to.voxel_mm[d] = from.voxel_mm[d];
    to.size[d] = in.space.voxels == nullptr ? in.size[d] : in.space.size[d];
    to.corner_reach[d] = from.corner_reach[d];
    to.plane_reach = std::max(to.plane_reach, 2 * from.corner_reach[d]);
  }
  to.plane_reach += plane_rounding;
  to.cubes = from.cubes.data();
  to.cell_begin = from.cell_begin.data(), to.cell_triangles = from.cell_triangles.data();
  to.triangles = from.triangles.data(), to.vertices = from.vertices.data();
  to.uses = from.uses.data(), to.targets = from.targets.data();
  to.one_corner = from.one_corner;
  to.has_columns = in.matrix.vertex_column != nullptr || in.pair_columns.vertex_column != nullptr;
  return to;
}

/// A view of arrays in host memory.
inline field_view host_field(const track_input& in) {
  const auto data = [](std::span<const std::uint32_t> s) { return s.empty() ? nullptr : s.data(); };
  field_view field{{in.size[0], in.size[1], in.size[2]}, in.voxels.data(), in.fibres.data(), in.places};
  field.exits = data(in.exits);
  field.target_begin = data(in.target_begin);
  field.targets = data(in.targets);
  field.matrix = in.matrix;
  field.pair_columns = in.pair_columns;
  field.space = in.space;
  field.surfaces = host_surfaces(in);
  return field;
}

/// Groups of one seed each, which make the rows of a matrix.
VOXHERD_FUNCTION inline group_plan row_plan(const group_plan& plan) {
  return {plan.seeds, plan.per_seed, plan.per_seed};
}

/// Sizes of the arrays of one of a plan's groups.
inline count_extents make_extents(const group_plan& plan, std::size_t places, std::size_t columns) {
  return {places, plan.seed_rows(), columns, bit_words(plan.per_group)};
}

}  // namespace voxherd::track
