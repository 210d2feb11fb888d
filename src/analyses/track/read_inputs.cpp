#include "src/analyses/track/read_inputs.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "core/failure.hpp"
#include "core/step_outputs.hpp"
#include "core/text.hpp"
#include "src/analyses/track/mask_files.hpp"
#include "src/analyses/track/places.hpp"
#include "src/analyses/track/surface_seeds.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/region_names.hpp"

namespace voxherd {

namespace {

namespace mark = track::mark;
using track::voxel_info;

constexpr std::size_t max_regions = 2048;  // larger matrices are not for a single process

/// The name of file number `i` of an option among the inputs.
std::string input_name(const std::vector<std::string>& paths, const char* option, std::size_t i) {
  return paths.size() == 1 ? option : fmt::format("{} {}", option, i + 1);
}

/// Sets a bit in the voxels of each mask. `bit`: of the first one; the next masks have the same, or the following bits.
void set_marks(const std::vector<std::string>& paths, const char* option, std::uint32_t bit, bool own_bits,
               mesh_space meshes, track_inputs& in) {
  const fsl_grid& grid = in.space.grid;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    nlohmann::json& input = in.provenance[input_name(paths, option, i)] = fingerprint(paths[i]);
    if (is_surface_mask(paths[i])) {
      in.surfaces.use(in.surfaces.add(paths[i], meshes, grid)).marks |= own_bits ? bit << i : bit;
      continue;
    }
    for (const std::uint64_t v : counted_voxels(in.read_image(paths[i], label_kind::mask), input))
      in.voxels[v].marks |= own_bits ? bit << i : bit;
  }
}

/// Keeps streamlines out of the voxels outside a mask.
void apply_mask(const std::string& path, const fsl_grid& grid, track_inputs& in) {
  in.provenance["mask"] = fingerprint(path);
  const label_image mask = read_labels(path, grid, label_kind::mask);
  (void)counted_voxels(mask, in.provenance["mask"]);
  for (const std::uint64_t v : in.samples.voxels)
    if (mask.label[v] == 0) in.voxels[v].marks &= ~mark::inside;
}

/// 1 in the samples' voxels with samples.
std::vector<std::uint8_t> voxels_inside(const track_inputs& in) {
  std::vector<std::uint8_t> inside(in.voxels.size());
  std::transform(in.voxels.begin(), in.voxels.end(), inside.begin(),
                 [](const voxel_info& v) { return static_cast<std::uint8_t>(v.marks & mark::inside); });
  return inside;
}

/// The regions of a parcellation, or one per mask; without a network all masks are one region.
label_image read_regions(const std::vector<std::string>& paths, const fsl_grid& grid, bool network, track_inputs& in) {
  const auto note = [&](const label_image& image, std::size_t i) {
    return counted_voxels(image, in.provenance[input_name(paths, network ? "connectome" : "seed-image", i)]);
  };
  if (paths.size() == 1) {
    label_image image = in.read_image(paths.front(), network ? label_kind::labels : label_kind::mask);
    (void)note(image, 0);
    return image;
  }
  label_image all{paths.front() + ", ...", std::vector<std::int32_t>(grid.voxel_count()), {}, {}};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto number = static_cast<std::int32_t>(network ? i + 1 : 1);
    for (const std::uint64_t v : note(in.read_image(paths[i], label_kind::mask), i)) {
      std::int32_t& label = all.label[v];
      if (network && label != 0)
        throw failure(exit_status::bad_data,
                      fmt::format("--connectome: {} and {} overlap; remove the overlap from one of them",
                                  paths[static_cast<std::size_t>(label) - 1], paths[i]));
      label = number;
    }
    if (network || i == 0) all.values.push_back(number);
  }
  return all;
}

void check_number_of_regions(const std::string& path, std::size_t regions, std::size_t at_least) {
  if (regions >= at_least && regions <= max_regions) return;
  throw failure(exit_status::bad_data,
                fmt::format("{}: has {}, expected {} {}", path, counted(regions, "label"),
                            regions < at_least ? "at least" : "at most", regions < at_least ? at_least : max_regions));
}

/// Seeds of a mask, or of a parcellation's regions one after another; those without samples are left out.
void read_seeds(const track_request& request, const seed_list& seeds_of_list, const fsl_grid& grid, track_inputs& in,
                std::vector<track::seed>& seeds) {
  const bool network = request.has_seeds_in_regions(), is_list = !seeds_of_list.path.empty();
  std::vector<std::string> paths = request.seeds();
  if (is_list) paths = {seeds_of_list.path};
  for (std::size_t i = 0; i < paths.size(); ++i)
    in.provenance[input_name(paths, network ? "connectome" : "seed-image", i)] = fingerprint(paths[i]);
  if (!is_list && has_surfaces(paths)) return read_listed_seeds(request, in, seeds);
  label_image image = is_list ? seeds_of_list.read(seeds_of_list.path, grid) : read_regions(paths, grid, network, in);
  if (network && paths.size() == 1) keep_named_regions(request.region_names, {}, image);
  const std::string& path = image.path;
  if (network) in.labels.assign(image.values.begin(), image.values.end());
  check_number_of_regions(path, in.labels.size(), 0);
  std::size_t outside = 0;
  for (const std::uint64_t v : image.voxels_with({})) {
    std::uint32_t region = 0;
    if (network) {
      const auto found = std::lower_bound(image.values.begin(), image.values.end(), image.label[v]);
      region = static_cast<std::uint32_t>(found - image.values.begin()) + 1;
      in.voxels[v].marks |= region << mark::region;
    }
    if (in.has_samples(v)) {
      seeds.push_back(seed_at(grid, v, region));
    } else {
      ++outside;
    }
  }
  if (seeds.empty() && outside > 0)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: none of its {} voxels has samples; does it belong to this subject{}?", path, outside,
                              in.space.is_warp() ? ", and is --transform not the inverse one" : ""));
  if (outside > 0) spdlog::info("{}: {} of {} voxels have no samples; ignored", path, outside, outside + seeds.size());
  std::stable_sort(seeds.begin(), seeds.end(),
                   [](const track::seed& a, const track::seed& b) { return a.region < b.region; });
}

void refuse_large_image(const image_grid& grid) {
  constexpr std::uint64_t max_voxels = 0x7fffffff;
  if (grid.voxel_count() > max_voxels)
    throw failure(exit_status::bad_data,
                  fmt::format("the image has {} voxels, expected at most {}", grid.voxel_count(), max_voxels));
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
counted_regions read_counted_regions(const track_request& request, track_inputs& in) {
  const std::vector<std::string>& paths = request.connectome;
  if (has_surfaces(paths))
    throw failure(
        exit_status::usage,
        fmt::format("--connectome {}: is or contains a surface, whose regions need its vertices as seeds: leave "
                    "--seed-image out, or give the regions as an image",
                    paths.front()));
  for (std::size_t i = 0; i < paths.size(); ++i)
    in.provenance[input_name(paths, "connectome", i)] = fingerprint(paths[i]);
  counted_regions regions;
  label_image image;
  if (paths.size() == 1) {
    regions.grid = fsl_grid(read_nifti_header(paths.front()));
    refuse_large_image(regions.grid);
    image = read_labels(paths.front(), regions.grid, label_kind::labels, "", in.rules);
    (void)counted_voxels(image, in.provenance["connectome"]);
    keep_named_regions(request.region_names, {}, image);
  } else {
    regions.grid = in.space.grid;
    image = read_regions(paths, regions.grid, true, in);
  }
  check_number_of_regions(image.path, image.values.size(), 2);
  check_regions_are_in(in.space.grid, regions.grid, image);
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

/// Collective: the file of names is read by the root.
void name_regions(const session& s, const std::string& file, track_inputs& in) {
  if (file.empty()) return;
  in.configuration["region-names"] = s.from_root([&] {
    in.provenance["region-names"] = fingerprint(file);
    const std::vector<std::int64_t>& labels = in.region_labels();
    return read_region_names(file, {labels.begin(), labels.end()});
  });
}

}  // namespace

track_inputs read_track_field(const session& s, const track_request& request, posterior_samples samples) {
  track_inputs in(std::move(samples));
  in.provenance = in.samples.provenance;
  in.step_mm = static_cast<double>(request.step_mm);
  in.rules = request.masks;
  in.tallies = request.tallies;
  in.max_kept = request.paths.empty() ? 0 : request.max_paths;
  in.space = read_track_space(s, request, in.samples.grid, in.warp_memory, in.provenance);
  s.on_root([&] {
    in.reference = seed_space_image(request);
    in.surfaces.use_values(request.values_of);
    const fsl_grid& samples_grid = in.samples.grid;
    refuse_large_image(samples_grid);
    refuse_large_image(in.space.grid);
    if (request.start_fibre > in.samples.fibres)
      throw failure(exit_status::usage, fmt::format("--start-fibre {}: the samples have {}", request.start_fibre,
                                                    counted(static_cast<std::uint64_t>(in.samples.fibres), "fibre")));
    number_places(request, in);
    if (!request.mask.empty() && !in.samples.is_masked) apply_mask(request.mask, samples_grid, in);
    in.mask_voxels = static_cast<std::uint64_t>(std::count_if(
        in.voxels.begin(), in.voxels.end(), [](const voxel_info& v) { return (v.marks & mark::inside) != 0; }));
    if (!in.space.is_separate) return;
    check_warps(request, samples_grid, voxels_inside(in), in.space);
    move_places(request, in);
  });
  auto found = std::tie(in.space.error, in.sample_voxels, in.place_voxels, in.provenance);
  s.broadcast(found);
  return in;
}

namespace {

/// Surfaces whose vertices are columns of a matrix.
void add_column_surfaces(const track_request& request, track_inputs& in) {
  if (!request.matrix1.empty() && !in.seed_places.empty()) in.surfaces.need_columns();
  for (const column_option& option : column_options) {
    const std::string& mask = request.*option.mask;
    if (mask.empty()) continue;
    for (const std::string& path : find_mask_files({mask}, option.name)) {
      if (!is_surface_mask(path)) continue;
      in.surfaces.add(path, request.meshes, in.space.grid);
      in.surfaces.need_columns();
    }
  }
}

}  // namespace

void read_counted_masks(const track_request& request, track_inputs& in) {
  read_exit_masks(request, in);
  read_targets(request, in);
  add_column_surfaces(request, in);
}

void share_counted_masks(const session& s, track_inputs& in) {
  auto masks = std::tie(in.exits, in.target_begin, in.targets, in.target_names);
  s.broadcast(masks);
}

void set_closest_vertex(const track_request& request, track_inputs& in) {
  in.surfaces.set_one_corner(request.closest_vertex);
  if (request.closest_vertex) in.configuration["closest-vertex"] = true;
}

track_draw read_draw(const track_request& request, const seed_list& seeds_of_list, track_inputs& in) {
  const fsl_grid& grid = in.space.grid;
  track_draw draw;
  set_marks(request.excludes, "exclude", mark::exclude, false, request.meshes, in);
  set_marks(request.stop, "stop", mark::stop, false, request.meshes, in);
  set_marks(request.includes, "include", 1u << mark::first_include, true, request.meshes, in);
  for (const std::string& path : request.includes)
    draw.include_names.push_back(std::filesystem::path(path).filename().string());
  for (std::size_t i = 0; i < request.surface_values.size(); ++i)
    in.provenance[fmt::format("surface-values {}", i + 1)] = fingerprint(request.surface_values[i]);
  read_seeds(request, seeds_of_list, grid, in, draw.seeds);
  draw.how = make_walk_settings(request, in.samples.grid, grid);
  draw.how.samples = in.samples.samples;
  draw.how.fibres = in.samples.fibres;
  draw.plan = {draw.seeds.size(), request.per_seed, 1};
  return draw;
}

track_inputs read_track_inputs(const session& s, const track_request& given, const seed_list& seeds_of_list) {
  track_request request = given;
  s.on_root([&] { request = with_mask_files(given); });
  posterior_samples samples =
      read_posterior_samples(s, request.samples, request.mask, request.masks, request.run.threads);
  s.note_stage("samples read");
  track_inputs in = read_track_field(s, request, std::move(samples));
  in.draws.resize(1), in.tracts.resize(1);
  track_draw& draw = in.draws.front();
  s.on_root([&] {
    in.draws.front() = read_draw(request, seeds_of_list, in);
    if (request.has_counted_regions()) in.regions = read_counted_regions(request, in);
    read_counted_masks(request, in);
    in.surfaces.finish(in.space.grid);
    if (!in.surfaces.empty()) in.configuration["mesh-space"] = mesh_space_name(request.meshes);
  });
  s.note_stage("masks read");
  auto found =
      std::tie(in.voxels, in.seed_places, in.labels, in.regions, in.configuration, draw.seeds, draw.how, draw.plan);
  s.broadcast(found);
  in.surfaces.broadcast(s);
  set_closest_vertex(request, in);
  if (in.configuration.is_null()) in.configuration = nlohmann::json::object();
  name_regions(s, request.region_names, in);
  share_counted_masks(s, in);
  s.broadcast(in.provenance);
  if (!seeds_of_list.path.empty()) request.seed_image = {seeds_of_list.path};  // options for seeds apply
  add_stored(track_options(), request, in.configuration);
  if (request.match == space_match::voxel_size) in.configuration["seed-space"] = "voxel size";
  add_warp_error(in.space, in.configuration);
  spdlog::info("{} with {} each: {} through {} of {}",
               counted(draw.seeds.size(), in.seed_places.empty() ? "seed voxel" : "seed"),
               counted(request.per_seed, "streamline"), counted(draw.plan.streamlines(), "streamline"),
               counted(static_cast<std::uint64_t>(draw.how.samples), "sample"),
               counted(static_cast<std::uint64_t>(draw.how.fibres), "fibre"));
  return in;
}

}  // namespace voxherd
