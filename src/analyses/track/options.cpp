#include "src/analyses/track/options.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "src/analyses/track/mask_files.hpp"
#include "src/analyses/track/tally_output.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/surface_space.hpp"
#include "src/scan/warps/transform.hpp"

namespace voxherd {

namespace {

using option::refuse;
using option::refuse_given;
using track::first_fibre;
using track::include_rule;
using track::step_mean;

/// Rounded to a float, so that an angle of six decimals gives exactly the cosine that FSL's users know.
double min_cosine(double max_angle_degrees) {
  return static_cast<float>(std::cos(max_angle_degrees * std::numbers::pi / 180));
}

void check_request(const track_request& r, const given_options& given) {
  if (r.start_fibre > 0) refuse_given(given, "first-fibre", "with --start-fibre");
  if (!r.tracts.empty())
    for (const char* name : {"seed-image", "connectome", "include", "include-rule", "ordered", "matrix1"})
      refuse_given(given, name, "with --tracts, which has the masks of each tract");
  if (r.ordered && r.rule == include_rule::one) refuse("--ordered has no meaning with --include-rule or");
}

const option_table<track_request>& drawing_options() {
  using T = track_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"samples", &T::samples, text_kind::file,
       {.text = "posterior samples of fibre directions: a result of ballstick, a folder of bedpostX, or the beginning "
                "of its files' names (FOLDER/merged)", .required = true}},
      {"mask", &T::mask, text_kind::file,
       {.text = "mask in which streamlines run", .standard = "where there are samples"}},
      {"seedref", &T::reference, text_kind::file,
       {.text = "image on whose grid seeds, masks and results are",
        .standard = "the samples' image; --transform: the first image of seeds"}},
      {"transform", &T::transform, text_kind::file,
       {.text = "transform that resamples an image of this space onto the grid of the samples: a matrix of FLIRT, a warp of "
                "FSL, or files of ITK in the order of antsApplyTransforms", .standard = "the same world coordinates", .many = true}},
      {"inverse-transform", &T::inverse_transform, text_kind::file,
       {.text = "transform that resamples an image of the samples onto the grid of this space; only if one of the two is a warp", .many = true}},
      {"seed-image", &T::seed_image, text_kind::file,
       {.text = "mask of the seed voxels, or surface whose vertices are seeds, or several of them", .many = true}},
      {"mesh-space", &T::meshes, mesh_space_words,
       {.text = "coordinates of surfaces: mm of the world (caret), or another of FSL's --meshspace", .paper = true}},
      {"surface-values", &T::surface_values, text_kind::file,
       {.text = "values per vertex (.func.gii, .shape.gii, .label.gii), one file for each surface of seeds, or for each surface of seeds "
                "and masks in the order of the options: vertices with 0 or NaN are left out",
        .many = true, .paper = true}},
      {"connectome", &T::connectome, text_kind::file,
       {.text = "parcellation, or several masks: matrices of the streamlines between its regions are written; without "
                "--seed-image its voxels are the seeds", .many = true}},
      {"region-names", &T::region_names, text_kind::file,
       {.text = "names of the regions of --connectome: text, one region per line: label, name", .needs = "connectome"}},
      {"join-regions", &T::joining, {{"passed", region_joining::passed}, {"ends", region_joining::at_ends}},
       {.text = "regions of --connectome that a streamline from --seed-image joins: all that it passes, or the two at its ends",
        .stored = if_it_applies, .needs = "connectome,seed-image"}},
      {"end-radius", &T::end_radius_mm, range{0, 20},
       {.text = "largest distance from an end to the nearest voxel of a region; 0: the end must be in a voxel of the region",
        .unit = "mm", .stored = if_it_applies, .needs = "join-regions=ends", .paper = true}},
      {"tracts", &T::tracts, text_kind::file,
       {.text = "folder with the masks of many tracts, one folder each, as for XTRACT", .value = "DIR"}},
      {"tract-list", &T::tract_list, text_kind::file,
       {.text = "tracts to compute, one per line, with a factor of the streamlines",
        .standard = "structureList in that folder, or all", .needs = "tracts"}},
      {"tract-samples", &T::tract_samples, range{1, 1e9},
       {.text = "number of streamlines per seed voxel of a tract, times its factor in the list", .stored = if_it_applies,
        .needs = "tracts", .paper = true}},
      {"samples-per-seed", &T::per_seed, range{1, 1e9},
       {.text = "number of streamlines per seed voxel", .stored = if_it_applies, .needs = "seed-image|connectome"}},
      {"seed-radius", &T::radius_mm, range{0, 100},
       {.text = "radius of the ball around a seed voxel's centre in which streamlines start", .unit = "mm",
        .stored = always}},
      {"random-seed", &T::random_seed, at_least(0), {.text = "start of the random numbers; the same one gives the same result", .stored = always}}})
    .at_least_one_of({"seed-image", "connectome", "tracts"})
    .group("Streamlines", {
      {"step", &T::step_mm, range{0.01, 100}, {.text = "step length", .unit = "mm", .stored = always}},
      {"max-steps", &T::max_steps, range{1, 500'000}, {.text = "largest number of steps on each side of the seed", .stored = always, .paper = true}},
      {"max-angle", &T::max_angle_degrees, range{0, 90},
       {.text = "largest angle between two successive steps; 78.463041 is FSL's cosine of 0.2", .unit = "degrees",
        .stored = always}},
      {"fibre-threshold", &T::fibre_threshold, range{0, 1},
       {.text = "smallest volume fraction of a fibre that is followed", .stored = always}},
      {"first-fibre", &T::first, {{"strongest", first_fibre::strongest}, {"equal", first_fibre::equal},
                                  {"weighted", first_fibre::weighted}, {"any", first_fibre::any}},
       {.text = "fibre of the first step: fibre 1, one of those above the threshold (equal, or weighted by their "
                "fraction), or any", .stored = always, .paper = true}},
      {"start-fibre", &T::start_fibre, range{0, 8}, {.text = "number of the first step's fibre; 0: the choice of --first-fibre", .stored = always,
        .paper = true}},
      {"step-direction", &T::averaging, {{"start", step_mean::none}, {"mean", step_mean::with_sample}, {"fsl-mean", step_mean::with_axis}},
       {.text = "direction of a step: that at its start, or the mean with a direction drawn one step ahead; where there "
                "is none, fsl-mean takes the z axis instead, as FSL does", .stored = always, .paper = true}},
      {"loop-check", &T::loop_check, {{"on", true}, {"off", false}},
       {.text = "whether a half ends that returns to a block of 5 x 5 x 5 voxels against its last direction there", .stored = always}},
      {"stop-by-fraction", &T::stop_by_fraction,
       {.text = "continue each step with a probability equal to the fibre's volume fraction", .stored = always, .paper = true}},
      {"end-samples", &T::ends, {{"full", end_weights::full}, {"half", end_weights::half}},
       {.text = "probability with which the first and the last sample of a voxel are drawn: as the others, or half, as in FSL",
        .stored = always, .paper = true}}});
  // clang-format on
  return table;
}

/// The flags of tallies that have one.
const option_table<tally_choice>& tally_options() {
  static const option_table<tally_choice> table = [] {
    option_table<tally_choice> all;
    track::tally_list::for_each([&]<class Tally>() {
      const track::tally_output& output = Tally::output;
      if (output.option == nullptr) return;
      using flag = tally_flag<Tally>;
      const option_notes notes{
          .text = output.help, .stored = always, .needs = output.needs, .paper = output.is_for_experts};
      (void)std::move(all).inherit(option_table<flag>().group("Results", {{output.option, &flag::is_given, notes}}),
                                   [](const option_spec& spec) { return spec.name; });
    });
    return all;
  }();
  return table;
}

const option_table<track_request>& acceptance_options() {
  using T = track_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Masks", {
      {"exclude", &T::excludes, text_kind::file, {.text = "masks: a half of a streamline (one side of its seed) that touches one is rejected", .many = true}},
      {"stop", &T::stop, text_kind::file, {.text = "masks in which a half ends", .many = true}},
      {"walk-through-stop", &T::walk_through_stop, text_kind::file,
       {.text = "masks: a half may enter and pass one, and ends before its first point outside; one that starts inside "
                "may leave once; up to 32", .many = true, .paper = true}},
      {"ignore-first-step", &T::ignore_first_step,
       {.text = "ignore --exclude at the start, and --stop at the point after it", .stored = always,
        .needs = "exclude|stop", .paper = true}},
      {"include", &T::includes, text_kind::file,
       {.text = "masks that a streamline must pass; up to 13", .many = true}},
      {"include-rule", &T::rule, {{"and", include_rule::all}, {"or", include_rule::one}},
       {.text = "number of the --include masks that must be passed: all (and), or one (or)", .stored = always, .needs = "include"}},
      {"ordered", &T::ordered, {.text = "require the order of the --include masks", .stored = always}},
      {"each-half", &T::each_half,
       {.text = "require the --include rule of each half separately", .stored = always, .needs = "include|tracts", .paper = true}},
      {"min-half-length", &T::min_half_length_mm, range{0, 100000},
       {.text = "smallest length on one side of the seed; shorter halves are rejected", .unit = "mm", .stored = always}}})
    .include(&T::tallies, tally_options())
    .group("Results", {
      {"targets", &T::targets, text_kind::file,
       {.text = "target masks; the streamlines of each seed voxel that reach each target are counted", .needs = "seed-image|connectome|tracts",
        .many = true}},
      {"paths", &T::paths, text_kind::file,
       {"also write accepted streamlines with their points to this result file (.h5)"}},
      {"max-paths", &T::max_paths, range{1, 1e8},
       {.text = "largest number of streamlines in --paths, evenly chosen from all accepted ones", .stored = if_it_applies, .needs = "paths"}}})
    .group("Matrices", {
      {"matrix1", &T::matrix1, text_kind::file, {"also write the sparse matrix of seed voxels by seed voxels to FILE (.h5)"}},
      {"matrix2", &T::matrix2, text_kind::file,
       {.text = "also write the sparse matrix of seed voxels by the voxels of --target2 to FILE (.h5)",
        .needs = "target2"}},
      {"target2", &T::target2, text_kind::file, {.text = "mask whose voxels, on its own grid, are the columns of --matrix2; or surfaces: their vertices",
        .needs = "matrix2"}},
      {"matrix3", &T::matrix3, text_kind::file,
       {.text = "also write the sparse matrix of the pairs of voxels of --target3 that streamlines connect to FILE (.h5)",
        .needs = "target3"}},
      {"target3", &T::target3, text_kind::file, {.text = "mask whose voxels, on its own grid, are rows and columns of --matrix3; or surfaces: their vertices",
        .needs = "matrix3"}},
      {"target3-columns", &T::target3_columns, text_kind::file,
       {.text = "another mask whose voxels, on its own grid, are the columns of --matrix3", .needs = "matrix3", .paper = true}},
      {"matrix-min-length", &T::matrix_min_length_mm, range{0, 100000},
       {.text = "smallest length of a streamline that is counted in --matrix1 and --matrix3", .unit = "mm",
        .stored = always, .needs = "matrix1|matrix3", .paper = true}},
      {"matrix4", &T::matrix4, text_kind::file,
       {.text = "also write the sparse matrix of seeds by the voxels of --target4, with the fibres that streamlines follow "
                "there, to FILE (.h5)", .needs = "target4", .paper = true}},
      {"target4", &T::target4, text_kind::file,
       {.text = "mask, on its own grid in the space of the samples, whose voxels are the columns of --matrix4",
        .needs = "matrix4", .paper = true}},
      {"matrix4-rows", &T::matrix4_rows, text_kind::file,
       {.text = "mask, or surfaces, whose voxels or vertices are the rows of --matrix4", .standard = "the seeds",
        .needs = "matrix4", .paper = true}},
      {"closest-vertex", &T::closest_vertex,
       {.text = "in matrices, a crossed triangle reaches the corner nearest to the crossing, not all three",
        .needs = "matrix1|matrix2|matrix3|matrix4-rows", .paper = true}}});
  // clang-format on
  return table;
}

/// Before samples are read, which takes long: throws failure if one of the other inputs cannot be opened.
void open_all(const track_request& r) {
  for (const mask_option& option : mask_options)
    for (const std::string& path : r.*option.masks) (void)input_file(path);
  for (const std::string& path : r.surface_values) (void)input_file(path);
  std::vector<std::string> files = {r.mask, r.reference, r.region_names, r.target4};
  for (const column_option& option : column_options) files.push_back(r.*option.mask);
  for (const std::string& path : files)
    if (!path.empty()) (void)input_file(path);
  for (const auto* names : {&r.transform, &r.inverse_transform})
    for (const std::string& name : *names) (void)input_file(transform_file(name));
}

/// A warp is not inverted, a matrix is.
void check_transforms(const track_request& r) {
  const auto warp = [](const std::vector<std::string>& names) {
    const auto found = std::find_if(names.begin(), names.end(), is_warp);
    return found == names.end() ? "" : *found;
  };
  if (r.transform.empty() && !r.inverse_transform.empty())
    refuse("--inverse-transform has no meaning without --transform");
  const std::string found = warp(r.transform).empty() ? warp(r.inverse_transform) : warp(r.transform);
  if (!found.empty() && r.inverse_transform.empty())
    refuse(fmt::format(
        "--transform {}: is a warp; give --inverse-transform (FSL's --invxfm), the warp of the other direction",
        found));
  if (found.empty() && !r.inverse_transform.empty())
    refuse("--inverse-transform has no meaning without a warp: the matrix of --transform is inverted");
}

/// Matches --surface-values with surfaces: those of the seeds, or all of them, each once.
void match_surface_values(track_request& r) {
  r.values_of.clear();
  if (r.surface_values.empty()) return;
  std::vector<std::string> files = r.seeds();
  const std::size_t of_seeds = different_surfaces(files).size();
  files.clear();
  for (const mask_option& option : mask_options)
    files.insert(files.end(), (r.*option.masks).begin(), (r.*option.masks).end());
  for (const column_option& option : column_options)
    if (const std::string& mask = r.*option.mask; !mask.empty())
      for (std::string& file : find_mask_files({mask}, option.name)) files.push_back(std::move(file));
  const std::vector<std::string> surfaces = different_surfaces(files);
  if (surfaces.empty()) refuse("--surface-values has no meaning without surfaces");
  const std::size_t given = r.surface_values.size(), all = surfaces.size();
  if (given != all && (given != of_seeds || of_seeds == 0)) {
    refuse(fmt::format("--surface-values: {} files, expected {}{}, one for each of these surfaces in this order: {}",
                       given, of_seeds > 0 && of_seeds < all ? fmt::format("{} for the seeds, or ", of_seeds) : "", all,
                       fmt::join(surfaces, ", ")));
  }
  for (std::size_t i = 0; i < given; ++i) r.values_of[surfaces[i]] = r.surface_values[i];
}

}  // namespace

track_request with_mask_files(const track_request& request) {
  track_request r = request;
  for (const mask_option& option : mask_options) r.*option.masks = find_mask_files(r.*option.masks, option.name);
  for (auto [name, option] : {std::pair(&r.mask, "mask"), std::pair(&r.reference, "seedref")}) {
    if (name->empty()) continue;
    const std::vector<std::string> images = find_mask_files({*name}, option);
    if (images.size() > 1)
      refuse(fmt::format("--{} {}: lists {} images, expected one image", option, *name, images.size()));
    *name = find_mask_file(images.front(), option);
  }
  check_transforms(r);
  if (r.includes.size() > static_cast<std::size_t>(track::max_includes))
    refuse(
        fmt::format("--include (FSL's --waypoints) is given {} masks, expected at most {}; draw with fewer, or join "
                    "those of which one is enough in one image",
                    r.includes.size(), track::max_includes));
  if (r.walk_through_stop.size() > static_cast<std::size_t>(track::max_exit_masks))
    refuse(
        fmt::format("--walk-through-stop (FSL's --wtstop) is given {} masks, expected at most {}; join masks that do "
                    "not touch in one image",
                    r.walk_through_stop.size(), track::max_exit_masks));
  if (r.ordered && r.includes.size() < 2)
    refuse(fmt::format("--ordered has no meaning with {} --include; give at least two", r.includes.size()));
  open_all(r);
  match_surface_values(r);
  return r;
}

const option_table<track_request>& track_options() {
  using T = track_request;
  static const option_table<T> table = option_table<T>()
                                           .append(option_table<T>(drawing_options()))
                                           .append(option_table<T>(acceptance_options()))
                                           .include(&T::run, run_options())
                                           .check(check_request);
  return table;
}

track::walk_settings make_walk_settings(const track_request& r, const fsl_grid& samples, const fsl_grid& seeds) {
  track::walk_settings how;
  const auto step = static_cast<double>(r.step_mm);
  constexpr double unit = track::direction_unit;
  for (std::size_t d = 0; d < 3; ++d) {
    how.step_voxels[d] = static_cast<float>(step / (unit * samples.voxel_size_mm[d]));
    how.radius_voxels[d] = static_cast<float>(r.radius_mm / seeds.voxel_size_mm[d]);
  }
  how.random_start = r.radius_mm > 0;
  how.min_dot = static_cast<std::int32_t>(std::floor(min_cosine(r.max_angle_degrees) * unit * unit));
  how.min_fraction = static_cast<std::uint32_t>(static_cast<double>(r.fibre_threshold) * track::fraction_unit);
  how.max_points = r.max_steps + 1;
  how.min_steps = static_cast<std::int32_t>(std::ceil(static_cast<double>(r.min_half_length_mm) / step - 1e-4));
  how.loop_check = r.loop_check;
  how.stop_by_fraction = r.stop_by_fraction;
  how.half_weight_ends = r.ends == end_weights::half;
  how.first = r.first;
  how.start_fibre = r.start_fibre;
  how.averaging = r.averaging;
  how.ignore_first_step = r.ignore_first_step;
  how.random_seed = r.random_seed;
  how.exclude = !r.excludes.empty();
  how.includes = static_cast<std::uint32_t>(r.includes.size());
  how.rule = r.rule;
  how.ordered = r.ordered;
  how.each_half = r.each_half;
  how.connectome = r.has_seeds_in_regions();
  return how;
}

}  // namespace voxherd
