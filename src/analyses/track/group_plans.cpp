#include "src/analyses/track/group_plans.hpp"

#include <algorithm>
#include <utility>

#include "src/analyses/track/sums.hpp"

namespace voxherd {

namespace {

/// Bytes of a group's counts by place.
std::uint64_t place_bytes_per_group(const track_inputs& in) {
  std::uint64_t bytes = 0;
  for (const std::size_t i : list_counted_arrays(in))
    if (const track::count_array& array = track::all_counts::table[i]; array.by == track::counted_by::place)
      bytes += in.extents().bytes(array);
  return bytes;
}

}  // namespace

void number_draws(bool whole_seeds, bool pairs, track_inputs& in) {
  std::uint64_t seeds = 0, streamlines = 0, groups = 0, rows = 0;
  for (track_draw& draw : in.draws) {
    draw.first_seed = std::exchange(seeds, seeds + draw.seeds.size());
    draw.first_streamline = std::exchange(streamlines, streamlines + draw.plan.streamlines());
    in.tracts[draw.tract].started += draw.plan.streamlines();
  }
  const track::group_plan& first = in.draws.front().plan;
  const std::uint64_t bytes = place_bytes_per_group(in);
  const std::uint64_t per_group =
      (in.draws.size() == 1 ? make_group_plan(first.seeds, first.per_seed, bytes, whole_seeds, pairs)
                            : make_group_plan(streamlines, 1, bytes, whole_seeds, pairs))
          .per_group;
  for (track_draw& draw : in.draws) {
    draw.plan.per_group = per_group;
    rows = std::max(rows, draw.plan.seed_rows());
    draw.first_group = std::exchange(groups, groups + draw.plan.groups());
  }
  for (track_draw& draw : in.draws) draw.plan.min_rows = rows;
}

track::group_plan make_group_plan(std::uint64_t seeds, std::uint64_t per_seed, std::uint64_t row_bytes,
                                  bool whole_seeds, bool pairs) {
  constexpr std::uint64_t min_streamlines = 1 << 16, max_bytes = std::uint64_t{1} << 30, max_of_seed = 1 << 24;
  const std::uint64_t max_groups = pairs ? 256 : 1024;
  track::group_plan plan{seeds, per_seed, 1};
  const std::uint64_t room =
      std::clamp<std::uint64_t>(max_bytes / std::max<std::uint64_t>(1, row_bytes), 1, max_groups);
  const std::uint64_t total = plan.streamlines();
  plan.per_group = std::max(min_streamlines, (total + room - 1) / room);
  if (whole_seeds && per_seed <= max_of_seed) plan.per_group = (plan.per_group + per_seed - 1) / per_seed * per_seed;
  plan.per_group = std::clamp<std::uint64_t>(plan.per_group, 1, std::max<std::uint64_t>(1, total));
  // Counts of a group are 32-bit.
  plan.per_group = std::min<std::uint64_t>(plan.per_group, 0xffffffff);
  return plan;
}

}  // namespace voxherd
