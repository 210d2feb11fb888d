#include "src/analyses/track/places.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/failure.hpp"
#include "src/io/fingerprint.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

namespace mark = track::mark;
using track::voxel_info;

/// Voxels that a step or a start can reach from a voxel with samples, along each axis of the samples' image.
std::array<std::int64_t, 3> reach(const track_request& request, const image_grid& samples, const track_space& space) {
  std::array<std::int64_t, 3> voxels{};
  for (std::size_t d = 0; d < 3; ++d) {
    double start = 0;
    for (std::size_t k = 0; k < 3; ++k)
      start += std::abs(space.to_samples.affine.axes[3 * d + k]) * request.radius_mm / space.grid.voxel_size_mm[k];
    const double step = static_cast<double>(request.step_mm) / samples.voxel_size_mm[d];
    voxels[d] = static_cast<std::int64_t>(std::ceil(std::max(step, start)));
  }
  return voxels;
}

/// Marks all voxels within `far` of a marked one along an axis whose neighbours are `stride` apart.
void widen(std::vector<std::uint8_t>& marked, std::size_t length, std::size_t stride, std::int64_t far) {
  const std::size_t block = length * stride, reach = std::min(static_cast<std::size_t>(far), length - 1) * stride;
  std::vector<std::uint8_t> before(block);
  for (std::size_t first = 0; first < marked.size(); first += block) {
    std::uint8_t* const to = &marked[first];
    std::copy_n(to, block, before.begin());
    const std::uint8_t* const from = before.data();
    for (std::size_t shift = stride; shift <= reach; shift += stride) {
      for (std::size_t i = shift; i < block; ++i) to[i] |= from[i - shift];
      for (std::size_t i = shift; i < block; ++i) to[i - shift] |= from[i];
    }
  }
}

/// Calls use(voxel) for the voxels of an image that a box touches, until it returns true. Returns whether it did.
template <class Use>
bool find_in_box(const image_grid& grid, const voxel_box& box, const Use& use) {
  std::int64_t first[3], last[3];
  for (std::size_t d = 0; d < 3; ++d) {
    const double end = static_cast<double>(grid.size[d]) - 1;
    if (!(box.high[d] >= -0.5 && box.low[d] < end + 0.5)) return false;
    first[d] = static_cast<std::int64_t>(std::max(0.0, std::floor(box.low[d] + 0.5)));
    last[d] = static_cast<std::int64_t>(std::min(end, std::floor(box.high[d] + 0.5)));
  }
  for (std::int64_t z = first[2]; z <= last[2]; ++z)
    for (std::int64_t y = first[1]; y <= last[1]; ++y)
      for (std::int64_t x = first[0]; x <= last[0]; ++x) {
        const std::uint64_t row = static_cast<std::uint64_t>(z) * grid.size[1] + static_cast<std::uint64_t>(y);
        if (use(row * grid.size[0] + static_cast<std::uint64_t>(x))) return true;
      }
  return false;
}

/// The voxels of the seeds' image in which a point of a voxel of the samples' image may be. A little more than the
/// voxel, or less if each voxel is one of the other image.
void mark_reached(const track_space& space, const vector3& voxel, double half, std::vector<std::uint8_t>& reached) {
  (void)find_in_box(space.grid, space.to_seeds.bounds(voxel, {half, half, half}), [&](std::uint64_t v) {
    reached[v] = 1;
    return false;
  });
}

/// The voxels in which a streamline may start. Where warps are not exactly inverse to each other, no point of the
/// samples' image may lead back to them.
void mark_starts(double radius_mm, const image_grid& samples, const std::vector<voxel_info>& sample_voxels,
                 const track_space& space, std::vector<std::uint8_t>& reached) {
  vector3 half{};
  for (std::size_t d = 0; d < 3; ++d) half[d] = 0.501 + radius_mm / space.grid.voxel_size_mm[d];
  for (std::uint64_t v = 0; v < reached.size(); ++v)
    if (find_in_box(samples, space.to_samples.bounds(voxel_position(space.grid, v), half),
                    [&](std::uint64_t at) { return (sample_voxels[at].marks & mark::inside) != 0; }))
      reached[v] = 1;
}

/// Keeps streamlines out of the voxels outside a mask. Returns what is noted of it.
nlohmann::json apply_mask(const std::string& path, const sample_contents& samples, track_places& places) {
  nlohmann::json input = fingerprint(path);
  const label_image mask = read_labels(path, samples.grid, label_kind::mask);
  (void)counted_voxels(mask, input);
  for (const std::uint64_t v : samples.voxels)
    if (mask.label[v] == 0) places.voxels[v].marks &= ~mark::inside;
  return input;
}

/// 1 in the samples' voxels with samples.
std::vector<std::uint8_t> voxels_inside(const track_places& places) {
  std::vector<std::uint8_t> inside(places.voxels.size());
  std::transform(places.voxels.begin(), places.voxels.end(), inside.begin(),
                 [](const voxel_info& v) { return static_cast<std::uint8_t>(v.marks & mark::inside); });
  return inside;
}

/// Numbers the voxels with samples, then those within reach of them, where a streamline that leaves may end.
track_places number_places(const track_request& request, const sample_contents& samples, const track_space& space) {
  const image_grid& grid = samples.grid;
  const std::array<std::int64_t, 3> far = reach(request, grid, space);
  track_places places;
  places.voxels.assign(grid.voxel_count(), {-1, 0});
  places.place_voxels = samples.voxels;
  std::vector<std::uint8_t> reached(places.voxels.size());
  for (std::size_t i = 0; i < places.place_voxels.size(); ++i) {
    places.voxels[places.place_voxels[i]] = {static_cast<std::int32_t>(i), mark::inside};
    reached[places.place_voxels[i]] = 1;
  }
  std::size_t stride = 1;
  for (std::size_t d = 0; d < 3; stride *= grid.size[d++]) widen(reached, grid.size[d], stride, far[d]);
  for (std::size_t v = 0; v < reached.size(); ++v) {
    if (reached[v] == 0 || places.voxels[v].place >= 0) continue;
    places.voxels[v].place = static_cast<std::int32_t>(places.place_voxels.size());
    places.place_voxels.push_back(v);
  }
  return places;
}

/// The places of a separate space: the voxels of its image that a streamline can reach.
void move_places(const track_request& request, const image_grid& samples, const track_space& space,
                 track_places& places) {
  const double half = space.to_seeds.is_identity() ? 0.499 : 0.501;
  std::vector<std::uint8_t> reached(space.grid.voxel_count());
  for (const std::uint64_t v : places.place_voxels) mark_reached(space, voxel_position(samples, v), half, reached);
  places.sample_voxels = std::move(places.voxels);
  if (space.is_warp()) mark_starts(request.radius_mm, samples, places.sample_voxels, space, reached);
  places.voxels.assign(reached.size(), {-1, 0});
  places.place_voxels.clear();
  for (std::size_t v = 0; v < reached.size(); ++v) {
    if (reached[v] == 0) continue;
    places.voxels[v].place = static_cast<std::int32_t>(places.place_voxels.size());
    places.place_voxels.push_back(v);
  }
  if (places.place_voxels.empty())
    throw failure(
        exit_status::bad_data,
        "--seedref, --transform: no voxel of the reference image is in the samples; does the transform lead from "
        "the seeds' space to that of the samples?");
}

}  // namespace

found_places find_places(const track_request& request, const sample_contents& samples, const track_space& space) {
  found_places found;
  track_places& places = found.places;
  places = number_places(request, samples, space);
  if (!request.mask.empty() && samples.mask.empty())
    found.provenance["mask"] = apply_mask(request.mask, samples, places);
  places.mask_voxels = static_cast<std::uint64_t>(std::count_if(
      places.voxels.begin(), places.voxels.end(), [](const voxel_info& v) { return (v.marks & mark::inside) != 0; }));
  if (!space.is_separate) return found;
  found.warp_error = check_warps(request, samples.grid, voxels_inside(places), space);
  move_places(request, samples.grid, space, places);
  return found;
}

void refuse_large_image(const image_grid& grid) {
  constexpr std::uint64_t max_voxels = 0x7fffffff;
  if (grid.voxel_count() > max_voxels)
    refuse_data("the image has {} voxels, expected at most {}", grid.voxel_count(), max_voxels);
}

}  // namespace voxherd
