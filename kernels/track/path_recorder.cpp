#include "kernels/track/path_recorder.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/track/lane.hpp"

namespace voxherd::track {

namespace {

using points = std::vector<std::array<float, 3>>;

std::array<float, 3> point_of(const walker& w) { return {w.seed_point(0), w.seed_point(1), w.seed_point(2)}; }

/// Adds the walker's point to its half, unless it has it or the point does not belong to it.
void keep_point(const walker& w, std::array<points, 2>& halves) {
  points& half = halves[static_cast<std::size_t>(w.half())];
  if (static_cast<std::size_t>(w.point()) == half.size()) half.push_back(point_of(w));
}

}  // namespace

path_recorder::path_recorder(const track_input& input)
    : field_(host_field(input)),
      how_(input.how),
      seeds_(input.seeds),
      per_seed_(input.plan.per_seed),
      visits_(1),  // nothing is counted
      cells_(max_cells(input.how)) {}

void path_recorder::record(std::uint64_t number, streamline_path& path) {
  walker w(field_, how_, visits_.table(), cells_.table());
  const seed& from = seeds_[number / per_seed_];
  const auto of_seed = static_cast<std::uint32_t>(number % per_seed_);
  w.begin(from, of_seed, 0, {});
  while (w.advance()) continue;
  const unsigned counted = w.counted();

  path = {};
  if (counted == 0) return;
  std::array<points, 2> halves;
  w.begin(from, of_seed, counted, {});
  while (w.advance()) keep_point(w, halves);
  for (std::size_t h = 0; h < 2; ++h) {
    if ((counted >> h & 1u) == 0) halves[h].resize(1);  // only what the other half needs was repeated
    if (halves[h].empty()) halves[h].push_back(halves[1 - h].front());
    path.steps[h] = static_cast<std::int32_t>(halves[h].size() - 1);
    for (std::size_t i = 0; i < halves[h].size(); ++i) {
      const std::uint32_t crossed = meet(halves[h], i, from.region).other_region;
      if (crossed != 0) path.regions[h] = crossed;
      if (const std::uint32_t region = marks_at(halves[h][i]) >> mark::region; region != 0 && region != from.region)
        path.regions[h] = region;
    }
  }
  path.start = halves[0].size() - 1;
  path.points.assign(halves[0].rbegin(), halves[0].rend());
  path.points.insert(path.points.end(), halves[1].begin() + 1, halves[1].end());
  if (!how_.connectome) return;
  const std::vector<std::uint32_t> first = find_reached(halves[0], from.region),
                                   second = find_reached(halves[1], from.region);
  path.reached.assign(first.rbegin(), first.rend());
  path.reached.insert(path.reached.end(), second.begin() + 1, second.end());
}

std::vector<std::uint32_t> path_recorder::find_reached(std::span<const std::array<float, 3>> half,
                                                       std::uint32_t own_region) const {
  std::vector<std::uint32_t> reached(half.size()), here, seen;
  std::vector<std::uint32_t> left;  // regions that wait for a free point
  for (std::size_t i = 1; i < half.size(); ++i) {
    list_regions(half, i, here);
    for (const std::uint32_t region : here) {
      if (region == own_region || std::find(seen.begin(), seen.end(), region) != seen.end()) continue;
      seen.push_back(region);
      left.push_back(region);
    }
    if (left.empty()) continue;
    reached[i] = left.front();
    left.erase(left.begin());
  }
  for (std::size_t i = half.size(); i-- > 1 && !left.empty();) {
    if (reached[i] != 0) continue;
    reached[i] = left.back();
    left.pop_back();
  }
  return reached;
}

void path_recorder::list_regions(std::span<const std::array<float, 3>> half, std::size_t i,
                                 std::vector<std::uint32_t>& regions) const {
  regions.clear();
  if (const std::uint32_t region = marks_at(half[i]) >> mark::region; region != 0) regions.push_back(region);
  if (field_.surfaces.cell_begin == nullptr) return;
  const auto &a = half[i - 1], &b = half[i];
  surface_search search(field_.surfaces, {{a[0], a[1], a[2]}, {b[0], b[1], b[2]}});
  surface_triangle triangle;
  for (std::uint32_t number = 0; search.find_next(field_.surfaces, triangle, number);)
    if (const std::uint32_t region = field_.surfaces.uses[triangle.surface].marks >> mark::region; region != 0)
      regions.push_back(region);
}

met_masks path_recorder::find_masks(std::uint64_t number) {
  walker w(field_, how_, visits_.table(), cells_.table());
  const seed& from = seeds_[number / per_seed_];
  met_masks met;
  std::array<points, 2> halves;  // a point that ends a half need not belong to it
  w.begin(from, static_cast<std::uint32_t>(number % per_seed_), 0, {});
  while (w.advance()) {
    points& half = halves[static_cast<std::size_t>(w.half())];
    if (static_cast<std::size_t>(w.point()) != half.size()) continue;
    half.push_back(point_of(w));
    const met_surfaces crossed = meet(half, half.size() - 1, from.region);
    const std::uint32_t marks = marks_at(half.back()) | crossed.marks;
    met.exclude |= (marks & mark::exclude) != 0 && (half.size() > 1 || !how_.ignore_first_step);
    met.other_region |= crossed.other_region != 0;
    if (half.size() == 1) continue;  // the start passes no mask
    met.includes |= marks >> mark::first_include & ((1u << how_.includes) - 1);
    const std::uint32_t region = marks >> mark::region;
    met.other_region |= region != 0 && region != from.region;
  }
  return met;
}

met_surfaces path_recorder::meet(std::span<const std::array<float, 3>> points, std::size_t i,
                                 std::uint32_t own_region) const {
  if (i == 0 || field_.surfaces.cell_begin == nullptr) return {};
  const auto &a = points[i - 1], &b = points[i];
  return meet_surfaces(field_.surfaces, {{a[0], a[1], a[2]}, {b[0], b[1], b[2]}}, own_region, true);
}

std::uint32_t path_recorder::marks_at(const std::array<float, 3>& point) const {
  const float p[3] = {point[0], point[1], point[2]};
  if (field_.space.voxels != nullptr) return field_.space.find(p).marks;
  std::size_t at = 0;
  for (int d = 2; d >= 0; --d) {
    const auto voxel = static_cast<std::int32_t>(std::floor(p[d] + 0.5f));
    if (voxel < 0 || voxel >= field_.size[d]) return 0;
    at = at * static_cast<std::size_t>(field_.size[d]) + static_cast<std::size_t>(voxel);
  }
  return field_.voxels[at].marks;
}

}  // namespace voxherd::track
