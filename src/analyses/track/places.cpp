#include "src/analyses/track/places.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "core/utf8.hpp"
#include "src/analyses/track/mask_files.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/number_table.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

namespace mark = track::mark;

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
void mark_starts(double radius_mm, const track_inputs& in, std::vector<std::uint8_t>& reached) {
  const image_grid& grid = in.space.grid;
  vector3 half{};
  for (std::size_t d = 0; d < 3; ++d) half[d] = 0.501 + radius_mm / grid.voxel_size_mm[d];
  for (std::uint64_t v = 0; v < reached.size(); ++v)
    if (find_in_box(in.samples.grid, in.space.to_samples.bounds(voxel_position(grid, v), half),
                    [&](std::uint64_t at) { return (in.sample_voxels[at].marks & mark::inside) != 0; }))
      reached[v] = 1;
}

}  // namespace

void number_places(const track_request& request, track_inputs& in) {
  const image_grid& grid = in.samples.grid;
  const std::array<std::int64_t, 3> far = reach(request, grid, in.space);
  in.voxels.assign(grid.voxel_count(), {-1, 0});
  in.place_voxels = in.samples.voxels;
  std::vector<std::uint8_t> reached(in.voxels.size());
  for (std::size_t i = 0; i < in.place_voxels.size(); ++i) {
    in.voxels[in.place_voxels[i]] = {static_cast<std::int32_t>(i), mark::inside};
    reached[in.place_voxels[i]] = 1;
  }
  std::size_t stride = 1;
  for (std::size_t d = 0; d < 3; stride *= grid.size[d++]) widen(reached, grid.size[d], stride, far[d]);
  for (std::size_t v = 0; v < reached.size(); ++v) {
    if (reached[v] == 0 || in.voxels[v].place >= 0) continue;
    in.voxels[v].place = static_cast<std::int32_t>(in.place_voxels.size());
    in.place_voxels.push_back(v);
  }
}

void move_places(const track_request& request, track_inputs& in) {
  const double half = in.space.to_seeds.is_identity() ? 0.499 : 0.501;
  std::vector<std::uint8_t> reached(in.space.grid.voxel_count());
  for (const std::uint64_t v : in.place_voxels)
    mark_reached(in.space, voxel_position(in.samples.grid, v), half, reached);
  in.sample_voxels = std::move(in.voxels);
  if (in.space.is_warp()) mark_starts(request.radius_mm, in, reached);
  in.voxels.assign(reached.size(), {-1, 0});
  in.place_voxels.clear();
  for (std::size_t v = 0; v < reached.size(); ++v) {
    if (reached[v] == 0) continue;
    in.voxels[v].place = static_cast<std::int32_t>(in.place_voxels.size());
    in.place_voxels.push_back(v);
  }
  if (in.place_voxels.empty())
    throw failure(
        exit_status::bad_data,
        "--seedref, --transform: no voxel of the reference image is in the samples; does the transform lead from "
        "the seeds' space to that of the samples?");
}

namespace {

/// Calls use(mask number, place) for the voxels of each mask that a streamline can reach, and of_surface(mask number,
/// surface) for each surface.
template <class Use, class OfSurface>
void for_each_place(const std::vector<std::string>& paths, const char* option, mesh_space meshes, track_inputs& in,
                    const Use& use, const OfSurface& of_surface) {
  const fsl_grid& grid = in.space.grid;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    nlohmann::json& input = in.provenance[fmt::format("{} {}", option, i + 1)] = fingerprint(paths[i]);
    if (is_surface_mask(paths[i])) {
      of_surface(number, in.surfaces.add(paths[i], meshes, grid));
      continue;
    }
    for (const std::uint64_t v : counted_voxels(in.read_image(paths[i], label_kind::mask), input))
      if (in.voxels[v].place >= 0) use(number, static_cast<std::size_t>(in.voxels[v].place));
  }
}

bool has_images(const std::vector<std::string>& paths) {
  return !std::all_of(paths.begin(), paths.end(), is_surface_mask);
}

}  // namespace

void read_exit_masks(const track_request& request, track_inputs& in) {
  const std::vector<std::string>& paths = request.walk_through_stop;
  if (has_images(paths)) in.exits.assign(in.place_voxels.size(), 0);
  for_each_place(
      paths, "walk-through-stop", request.meshes, in,
      [&](std::uint32_t mask, std::size_t place) { in.exits[place] |= 1u << mask; },
      [&](std::uint32_t mask, std::size_t surface) { in.surfaces.use(surface).exits |= 1u << mask; });
}

void read_targets(const track_request& request, track_inputs& in) {
  const std::vector<std::string>& paths = request.targets;
  if (paths.empty()) return;
  std::vector<std::vector<std::uint32_t>> of_place(in.place_voxels.size());
  const auto regions = static_cast<std::uint32_t>(in.labels.size());
  for_each_place(
      paths, "targets", request.meshes, in,
      [&](std::uint32_t mask, std::size_t place) { of_place[place].push_back(regions + mask); },
      [&](std::uint32_t mask, std::size_t surface) { in.surfaces.add_target(surface, regions + mask); });
  in.target_begin.push_back(0);
  for (const auto& list : of_place) {
    in.targets.insert(in.targets.end(), list.begin(), list.end());
    in.target_begin.push_back(static_cast<std::uint32_t>(in.targets.size()));
  }
  for (const std::string& path : paths) {
    const std::string name = mask_name(path);
    if (std::find(in.target_names.begin(), in.target_names.end(), name) != in.target_names.end())
      throw failure(exit_status::usage,
                    fmt::format("--targets: two files are called {}, by which their maps are named", name));
    in.target_names.push_back(name);
  }
}

}  // namespace voxherd
