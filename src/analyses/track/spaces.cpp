#include "src/analyses/track/spaces.hpp"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/failure.hpp"
#include "src/analyses/track/mask_files.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace {

warp_pair make_warps(const track_request& request, const fsl_grid& seeds, const fsl_grid& samples) {
  warp_pair made;
  if (request.transform.empty()) {
    made.to_samples.map.affine =
        request.match == space_match::world ? map_by_world(seeds, samples) : map_by_voxel_size(seeds, samples);
    made.to_seeds.map.affine = made.to_samples.map.affine.inverse();
    return made;
  }
  // What resamples an image maps points of the new image to the old one.
  const transform there = read_transforms(request.transform);
  if (!request.inverse_transform.empty()) {
    made.to_seeds = make_voxel_warp(there, samples, seeds);
    made.to_samples = make_voxel_warp(read_transforms(request.inverse_transform), seeds, samples);
  } else if (there.is_inverse) {
    transform points = there;
    points.is_inverse = false;
    made.to_samples = make_voxel_warp(points, seeds, samples);
    made.to_seeds.map.affine = made.to_samples.map.affine.inverse();
  } else {
    made.to_seeds = make_voxel_warp(there, samples, seeds);
    made.to_samples.map.affine = made.to_seeds.map.affine.inverse();
  }
  return made;
}

nlohmann::json fingerprint_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  std::transform(names.begin(), names.end(), std::back_inserter(files), transform_file);
  return files.size() == 1 ? fingerprint(files.front()) : fingerprint(files);
}

std::string words_of(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, " ")); }

/// Refuses a warp that has displacements almost nowhere. `used`: by voxel of `grid`; empty for all.
void check_cover(const char* option, const std::vector<std::string>& names, const voxel_warp& warp,
                 const image_grid& grid, const std::vector<std::uint8_t>& used, const char* what) {
  if (warp.values == nullptr) return;
  constexpr std::uint64_t max_tested = 300'000;
  constexpr double min_share = 0.1;
  std::uint64_t inside = 0, all = 0;
  const std::uint64_t stride = used.empty() ? (1 + grid.voxel_count() / max_tested) | 1u : 1;
  for (std::uint64_t v = 0; v < grid.voxel_count(); v += stride) {
    if (!used.empty() && used[v] == 0) continue;
    ++all;
    inside += warp.covers(voxel_position(grid, v)) ? 1 : 0;
  }
  const double share = static_cast<double>(inside) / static_cast<double>(std::max<std::uint64_t>(1, all));
  if (share < min_share)
    refuse_data("--{} {}: its grid holds {:.0f} % of {}; give the warp whose grid is that of this image", option,
                words_of(names), 100 * share, what);
}

}  // namespace

std::string seed_space_image(const track_request& request) {
  if (!request.reference.empty() || request.transform.empty()) return request.reference;
  return first_image(request.seeds());
}

space_contents read_space_contents(const track_request& request, const fsl_grid& samples, warp_pair& warps) {
  space_contents space;
  space.grid = samples;
  const std::string reference = seed_space_image(request);
  if (reference.empty()) return space;
  const nifti_header image = read_nifti_header(reference);
  space.grid = fsl_grid(image);
  space.is_separate = true;
  space.provenance["image"] = image.geometry;
  if (!request.reference.empty()) space.provenance["seedref"] = fingerprint(request.reference);
  if (!request.transform.empty()) space.provenance["transform"] = fingerprint_files(request.transform);
  if (!request.inverse_transform.empty())
    space.provenance["inverse-transform"] = fingerprint_files(request.inverse_transform);
  warps = make_warps(request, space.grid, samples);
  space.to_samples = warps.to_samples.map;
  space.to_seeds = warps.to_seeds.map;
  return space;
}

track_space::track_space(const space_contents& contents)
    : grid(contents.grid),
      is_separate(contents.is_separate),
      to_samples{contents.to_samples, nullptr},
      to_seeds{contents.to_seeds, nullptr},
      provenance(contents.provenance) {}

track_space read_track_space(const session& s, const track_request& request, const fsl_grid& samples) {
  warp_pair warps;  // on rank 0 of each node
  track_space space(s.from_root([&] { return read_space_contents(request, samples, warps); }));
  if (!space.is_warp()) return space;
  s.agree([&] {
    if (s.node_rank() == 0 && !s.is_root()) warps = make_warps(request, space.grid, samples);
  });
  for (const auto& [map, source] :
       {std::pair(&space.to_samples, &warps.to_samples.values), std::pair(&space.to_seeds, &warps.to_seeds.values)}) {
    const node_memory& memory =
        space.displacements.emplace_back(s, map->points() * sizeof(track::displacement), "the warps");
    auto* values = reinterpret_cast<track::displacement*>(memory.bytes().data());
    s.agree([&, from = source] {
      if (s.node_rank() == 0) std::copy(from->begin(), from->end(), values);
    });
    if (map->points() > 0) map->values = values;
  }
  return space;
}

inverse_error check_warps(const track_request& request, const fsl_grid& samples, const std::vector<std::uint8_t>& used,
                          const track_space& space) {
  if (!space.is_warp()) return {};
  constexpr double largest_mm = 2;
  check_cover("transform", request.transform, space.to_seeds, samples, used, "the voxels with samples");
  check_cover("inverse-transform", request.inverse_transform, space.to_samples, space.grid, {},
              "the image of --seedref or the seeds");
  const inverse_error error = find_inverse_error(space.grid, space.to_samples, space.to_seeds, samples, used);
  if (error.points == 0) return error;  // refused by move_places()
  const std::string found = fmt::format("there and back, points return within {:.2g} mm (median) and {:.2g} mm (95 %)",
                                        error.median_mm, error.p95_mm);
  if (error.p95_mm > largest_mm) {
    spdlog::warn(
        "--transform, --inverse-transform: {}, expected below {} mm; are both of this subject, and the one the "
        "inverse of the other?",
        found, largest_mm);
  } else {
    spdlog::info("--transform, --inverse-transform: {}", found);
  }
  return error;
}

void add_warp_error(const track_space& space, const inverse_error& error, nlohmann::json& configuration) {
  if (!space.is_warp()) return;
  const auto rounded = [](double mm) { return std::round(mm * 1e3) / 1e3; };
  configuration["warp-error-median"] = rounded(error.median_mm);
  configuration["warp-error-p95"] = rounded(error.p95_mm);
}

}  // namespace voxherd
