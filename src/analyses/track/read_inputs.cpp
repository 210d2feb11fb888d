#include "src/analyses/track/read_inputs.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "src/analyses/track/counted_masks.hpp"
#include "src/analyses/track/places.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/region_names.hpp"

namespace voxherd {

namespace {

namespace mark = track::mark;

constexpr std::size_t max_regions = 2048;  // larger matrices are not for a single process

/// The name of file number `i` of an option among the inputs.
std::string input_name(const std::vector<std::string>& paths, const char* option, std::size_t i) {
  return paths.size() == 1 ? option : fmt::format("{} {}", option, i + 1);
}

/// Sets a bit in the voxels of each mask. `bit`: of the first one; the next masks have the same, or the following bits.
void set_marks(const std::vector<std::string>& paths, const char* option, std::uint32_t bit, bool own_bits,
               mask_reader& masks) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string name = input_name(paths, option, i);
    const std::uint32_t bits = own_bits ? bit << i : bit;
    masks.note(name, paths[i]);
    if (is_surface_mask(paths[i])) {
      masks.surfaces().use(masks.surfaces().add(paths[i])).marks |= bits;
      continue;
    }
    for (const std::uint64_t v : masks.noted_voxels(name, masks.read_image(paths[i], label_kind::mask)))
      masks.mark(v, bits);
  }
}

/// The regions of a parcellation, or one per mask; without a network all masks are one region.
label_image read_regions(const std::vector<std::string>& paths, bool network, mask_reader& masks) {
  const auto note = [&](const label_image& image, std::size_t i) {
    return masks.noted_voxels(input_name(paths, network ? "connectome" : "seed-image", i), image);
  };
  if (paths.size() == 1) {
    label_image image = masks.read_image(paths.front(), network ? label_kind::labels : label_kind::mask);
    (void)note(image, 0);
    return image;
  }
  label_image all{paths.front() + ", ...", std::vector<std::int32_t>(masks.grid().voxel_count()), {}, {}};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto number = static_cast<std::int32_t>(network ? i + 1 : 1);
    for (const std::uint64_t v : note(masks.read_image(paths[i], label_kind::mask), i)) {
      std::int32_t& label = all.label[v];
      if (network && label != 0)
        refuse_data("--connectome: {} and {} overlap; remove the overlap from one of them",
                    paths[static_cast<std::size_t>(label) - 1], paths[i]);
      label = number;
    }
    if (network || i == 0) all.values.push_back(number);
  }
  return all;
}

void check_number_of_regions(const std::string& path, std::size_t regions, std::size_t at_least) {
  if (regions >= at_least && regions <= max_regions) return;
  refuse_data("{}: has {}, expected {} {}", path, counted(regions, "label"),
              regions < at_least ? "at least" : "at most", regions < at_least ? at_least : max_regions);
}

/// Seeds of a mask, or of a parcellation's regions one after another; those without samples are left out.
found_seeds seeds_in_image(const label_image& image, bool network, mask_reader& masks) {
  const std::string& path = image.path;
  found_seeds found;
  if (network) found.labels.assign(image.values.begin(), image.values.end());
  check_number_of_regions(path, found.labels.size(), 0);
  std::vector<track::seed>& seeds = found.seeds;
  std::size_t outside = 0;
  for (const std::uint64_t v : image.voxels_with({})) {
    std::uint32_t region = 0;
    if (network) {
      const auto at = std::lower_bound(image.values.begin(), image.values.end(), image.label[v]);
      region = static_cast<std::uint32_t>(at - image.values.begin()) + 1;
      masks.mark(v, region << mark::region);
    }
    if (masks.has_samples(v)) {
      seeds.push_back(seed_at(masks.grid(), v, region));
    } else {
      ++outside;
    }
  }
  if (seeds.empty() && outside > 0)
    refuse_data("{}: none of its {} voxels has samples; does it belong to this subject{}?", path, outside,
                masks.space().is_warp() ? ", and is --transform not the inverse one" : "");
  if (outside > 0) spdlog::info("{}: {} of {} voxels have no samples; ignored", path, outside, outside + seeds.size());
  std::stable_sort(seeds.begin(), seeds.end(),
                   [](const track::seed& a, const track::seed& b) { return a.region < b.region; });
  return found;
}

found_seeds read_seeds(const track_request& request, const seed_list& list, mask_reader& masks) {
  const bool network = request.has_seeds_in_regions(), is_list = !list.path.empty();
  const std::vector<std::string> paths = is_list ? std::vector{list.path} : request.seeds();
  for (std::size_t i = 0; i < paths.size(); ++i)
    masks.note(input_name(paths, network ? "connectome" : "seed-image", i), paths[i]);
  if (is_list) return seeds_in_image(list.read(list.path, masks.grid()), network, masks);
  if (has_surfaces(paths)) return read_listed_seeds(request, masks);
  label_image image = read_regions(paths, network, masks);
  if (network && paths.size() == 1) keep_named_regions(request.region_names, {}, image);
  return seeds_in_image(image, network, masks);
}

/// Throws failure if no region has a voxel in the image of the seeds.
void check_regions_are_in(const fsl_grid& seeds, const fsl_grid& regions, const label_image& image) {
  const grid_space of_seeds(seeds), of_regions(regions);
  for (const std::uint64_t v : image.voxels_with({}))
    if (find_voxel(seeds, of_seeds.to_index(of_regions.to_world(voxel_position(regions, v))))) return;
  throw failure(
      exit_status::bad_data,
      fmt::format("--connectome {}: none of its regions is in the image of the seeds; is it of this subject, and in "
                  "the same space?",
                  image.path));
}

/// One parcellation keeps its own grid, which may be finer than that of the seeds; several masks have the latter.
counted_regions read_counted_regions(const track_request& request, mask_reader& masks) {
  const std::vector<std::string>& paths = request.connectome;
  if (has_surfaces(paths))
    throw failure(
        exit_status::usage,
        fmt::format("--connectome {}: is or contains a surface, whose regions need its vertices as seeds: leave "
                    "--seed-image out, or give the regions as an image",
                    paths.front()));
  for (std::size_t i = 0; i < paths.size(); ++i) masks.note(input_name(paths, "connectome", i), paths[i]);
  counted_regions regions;
  label_image image;
  if (paths.size() == 1) {
    regions.grid = fsl_grid(read_nifti_header(paths.front()));
    refuse_large_image(regions.grid);
    image = read_labels(paths.front(), regions.grid, label_kind::labels, "", request.masks);
    (void)masks.noted_voxels("connectome", image);
    keep_named_regions(request.region_names, {}, image);
  } else {
    regions.grid = masks.grid();
    image = read_regions(paths, true, masks);
  }
  check_number_of_regions(image.path, image.values.size(), 2);
  check_regions_are_in(masks.grid(), regions.grid, image);
  regions.at_ends = request.joining == region_joining::at_ends;
  if (regions.at_ends) regions.end_radius_mm = request.end_radius_mm;
  regions.labels.assign(image.values.begin(), image.values.end());
  regions.column.assign(image.label.size(), -1);
  for (const std::uint64_t v : image.voxels_with({})) {
    const auto found = std::lower_bound(image.values.begin(), image.values.end(), image.label[v]);
    if (found != image.values.end() && *found == image.label[v])
      regions.column[v] = static_cast<std::int32_t>(found - image.values.begin());
  }
  return regions;
}

void log_draw(const track_draw& draw, bool has_surfaces) {
  spdlog::info("{} with {} each: {} through {} of {}", counted(draw.seeds.size(), has_surfaces ? "seed" : "seed voxel"),
               counted(draw.plan.per_seed, "streamline"), counted(draw.plan.streamlines(), "streamline"),
               counted(static_cast<std::uint64_t>(draw.how.samples), "sample"),
               counted(static_cast<std::uint64_t>(draw.how.fibres), "fibre"));
}

}  // namespace

found_seeds read_masked_seeds(const track_request& request, const seed_list& seeds, mask_reader& masks) {
  set_marks(request.excludes, "exclude", mark::exclude, false, masks);
  set_marks(request.stop, "stop", mark::stop, false, masks);
  set_marks(request.includes, "include", 1u << mark::first_include, true, masks);
  for (std::size_t i = 0; i < request.surface_values.size(); ++i)
    masks.note(fmt::format("surface-values {}", i + 1), request.surface_values[i]);
  return read_seeds(request, seeds, masks);
}

track_draw make_draw(const track_request& request, std::vector<track::seed> seeds, const mask_reader& masks) {
  const sample_contents& samples = masks.samples();
  track_draw draw;
  for (const std::string& path : request.includes)
    draw.include_names.push_back(std::filesystem::path(path).filename().string());
  draw.seeds = std::move(seeds);
  draw.how = make_walk_settings(request, samples.grid, masks.grid());
  draw.how.samples = samples.samples;
  draw.how.fibres = samples.fibres;
  draw.plan = {draw.seeds.size(), request.per_seed, 1};
  return draw;
}

nlohmann::json make_track_configuration(const track_request& request, const surface_masks& surfaces,
                                        const mask_reader& masks) {
  nlohmann::json configuration = nlohmann::json::object();
  if (!surfaces.empty()) configuration["mesh-space"] = mesh_space_name(request.meshes);
  if (request.closest_vertex) configuration["closest-vertex"] = true;
  add_stored(track_options(), request, configuration);
  add_warp_error(masks.space(), masks.warp_error(), configuration);
  return configuration;
}

track_contents read_track_contents(const track_request& request, const seed_list& list, const sample_contents& samples,
                                   const track_space& space) {
  mask_reader masks(request, samples, space);
  found_seeds seeds = read_masked_seeds(request, list, masks);
  counted_regions regions;
  if (request.has_counted_regions()) regions = read_counted_regions(request, masks);
  track_contents all;
  all.masks = read_counted_masks(request, seeds, masks);
  all.masks.regions = std::move(regions);
  all.masks.surfaces = masks.surfaces().finish(request.closest_vertex);
  all.drawn.draws.push_back(make_draw(request, std::move(seeds.seeds), masks));
  all.drawn.tracts.resize(1);
  all.drawn.seed_places = std::move(seeds.places);
  all.drawn.labels = std::move(seeds.labels);
  track_request stored = request;
  if (!list.path.empty()) stored.seed_image = {list.path};  // options for seeds apply
  all.configuration = make_track_configuration(stored, all.masks.surfaces, masks);
  if (request.match == space_match::voxel_size) all.configuration["seed-space"] = "voxel size";
  if (!seeds.files.is_null()) all.configuration["seed_surfaces"] = std::move(seeds.files);
  if (!request.region_names.empty()) {
    const std::vector<std::int64_t>& labels =
        request.has_counted_regions() ? all.masks.regions.labels : all.drawn.labels;
    masks.note("region-names", request.region_names);
    all.configuration["region-names"] = read_region_names(request.region_names, {labels.begin(), labels.end()});
  }
  all.provenance = masks.take_notes();
  all.places = masks.take_places();
  log_draw(all.drawn.draws.front(), !all.drawn.seed_places.empty());
  return all;
}

track_inputs read_inputs_with(const session& s, const track_request& request, const contents_reader& read_contents) {
  posterior_samples samples =
      read_posterior_samples(s, request.samples, request.mask, request.masks, request.run.threads);
  s.note_stage("samples read");
  track_space space = read_track_space(s, request, samples.grid);
  track_contents contents = s.from_root([&] { return read_contents(samples, space); });
  s.note_stage("masks read");
  return {request, std::move(samples), std::move(space), std::move(contents)};
}

track_inputs read_track_inputs(const session& s, const track_request& given, const seed_list& seeds) {
  track_request request = given;
  s.on_root([&] { request = with_mask_files(given); });
  return read_inputs_with(s, request, [&](const sample_contents& samples, const track_space& space) {
    return read_track_contents(request, seeds, samples, space);
  });
}

}  // namespace voxherd
