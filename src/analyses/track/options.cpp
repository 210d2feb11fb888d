#include "src/analyses/track/options.hpp"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>

#include "src/analyses/track/mask_files.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

using option::refuse;
using option::refuse_given;
using track::first_fibre;
using track::step_mean;
using track::waypoint_rule;

void check_request(const track_request& r, const given_options& given) {
  if (!r.seed_image.empty() && !r.network.empty())
    refuse("--seed-image and --network exclude each other; --network seeds all of its labels");
  if (!r.targets.empty() && !r.network.empty())
    refuse("--targets and --network exclude each other; give --seed-image with --targets");
  if (r.network.empty()) refuse_given(given, "region-names", "without --network");
  if (r.matrix2.empty() != r.target2.empty()) refuse("--matrix2 and --target2 need each other");
  if (r.matrix3.empty() != r.target3.empty()) refuse("--matrix3 and --target3 need each other");
  if (r.matrix3.empty()) refuse_given(given, "target3-columns", "without --matrix3");
  if (r.matrix1.empty() && r.matrix3.empty())
    refuse_given(given, "matrix-min-length", "without --matrix1 or --matrix3");
  if (r.streamlines.empty()) refuse_given(given, "max-streamlines", "without --streamlines");
  if (r.start_fibre > 0) refuse_given(given, "first-fibre", "with --start-fibre");
  if (r.ignore_first_step && r.avoid.empty() && r.stop.empty())
    refuse("--ignore-first-step has no meaning without --avoid or --stop");
  if (r.tracts.empty())
    for (const char* name : {"tract-list", "tract-samples"}) refuse_given(given, name, "without --tracts");
  else
    for (const char* name : {"seed-image", "network", "samples-per-seed", "waypoints", "waypoint-rule", "ordered",
                             "targets", "directions", "streamlines", "matrix1", "matrix2", "matrix3"})
      refuse_given(given, name, "with --tracts, which has the masks of each tract");
  if (r.tracts.empty() && r.waypoints.empty())
    for (const char* name : {"waypoint-rule", "each-half"}) refuse_given(given, name, "without --waypoints");
  if (r.ordered && r.rule == waypoint_rule::one) refuse("--ordered has no meaning with --waypoint-rule or");
}

const option_table<track_request>& drawing_options() {
  using T = track_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {
      {"samples", &T::samples, text_kind::file,
       {"posterior samples of fibre directions: a result of ballstick, a folder of bedpostX, or the beginning of its "
        "files' names (FOLDER/merged)"}},
      {"mask", &T::mask, text_kind::file,
       {"streamlines run only in this mask; default: where there are samples"}},
      {"seedref", &T::reference, text_kind::file,
       {"image of the space of the seeds, masks and results; default: the samples' image, or with --xfm the first image of "
        "seeds"}},
      {"xfm", &T::transform, text_kind::file,
       {"matrix of FLIRT from this space to that of the samples; default: the same world coordinates"}},
      {"seed-image", &T::seed_image, text_kind::file,
       {.text = "mask whose voxels are seeds; or several masks", .many = true}},
      {"network", &T::network, text_kind::file,
       {.text = "parcellation whose labelled voxels are seeds, or several masks; matrices between its labels are written",
        .many = true}},
      {"region-names", &T::region_names, text_kind::file,
       {"names of the regions of --network: text, one region per line: label, name"}},
      {"tracts", &T::tracts, text_kind::file,
       {.text = "folder with the masks of many tracts, one folder each, as for XTRACT", .value = "DIR"}},
      {"tract-list", &T::tract_list, text_kind::file,
       {"tracts to compute, one per line, with a factor of the streamlines; default: structureList in that folder, or all"}},
      {"tract-samples", &T::tract_samples, range{1, 1e9},
       {.text = "streamlines per seed voxel of a tract, times its factor in the list",
        .stored = [](const T& r) { return !r.tracts.empty(); }}},
      {"samples-per-seed", &T::per_seed, range{1, 1e9},
       {.text = "streamlines per seed voxel", .stored = [](const T& r) { return r.tracts.empty(); }}},
      {"seed-radius", &T::radius_mm, range{0, 100},
       {.text = "streamlines start anywhere in a ball of this radius around the voxel's centre", .unit = "mm",
        .stored = always}},
      {"seed", &T::random_seed, at_least(0), {.text = "random seed", .stored = always}}})
    .group("Streamlines", {
      {"step-length", &T::step_mm, range{0.01, 100}, {.text = "step length", .unit = "mm", .stored = always}},
      {"max-steps", &T::max_steps, range{4, 1'000'000}, {.text = "points of a streamline, half of them on each side of the seed",
        .stored = always}},
      {"curvature", &T::curvature, range{0, 1},
       {.text = "a half ends where the cosine between two steps is not above this", .stored = always}},
      {"fibre-threshold", &T::fibre_threshold, range{0, 1},
       {.text = "fibres with a volume fraction above this are followed", .stored = always}},
      {"first-fibre", &T::first, {{"strongest", first_fibre::strongest}, {"equal", first_fibre::equal},
                                  {"weighted", first_fibre::weighted}, {"any", first_fibre::any}},
       {.text = "fibre of the first step: fibre 1, one of those above the threshold (equal, or weighted by their "
                "fraction), or any", .stored = always}},
      {"start-fibre", &T::start_fibre, range{0, 8}, {.text = "number of the first step's fibre; 0: as --first-fibre says", .stored = always}},
      {"step-direction", &T::averaging, {{"start", step_mean::none}, {"mean", step_mean::with_sample}, {"fsl-mean", step_mean::with_axis}},
       {.text = "direction of a step: that at its start, or the mean with a direction drawn one step ahead; where there "
                "is none, fsl-mean takes the z axis instead, as FSL does", .stored = always}},
      {"loop-check", &T::loop_check,
       {.text = "end a half that enters a cell of 5 x 5 x 5 voxels against its last direction there", .stored = always}},
      {"stop-by-fraction", &T::stop_by_fraction,
       {.text = "continue at each step only with a probability of the fibre's volume fraction", .stored = always}},
      {"end-samples", &T::ends, {{"full", end_weights::full}, {"half", end_weights::half}},
       {.text = "draw the first and last sample as often as the others, or half as often, as FSL does",
        .stored = always}}});
  // clang-format on
  return table;
}

const option_table<track_request>& acceptance_options() {
  using T = track_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Masks", {
      {"avoid", &T::avoid, text_kind::file, {.text = "masks: a half that touches one is rejected", .many = true}},
      {"stop", &T::stop, text_kind::file, {.text = "masks: a half ends at its first point in one", .many = true}},
      {"walk-through-stop", &T::walk_through_stop, text_kind::file,
       {.text = "masks: a half may enter and pass one, and ends before its first point outside; one that starts inside "
                "may leave once; up to 32", .many = true}},
      {"ignore-first-step", &T::ignore_first_step,
       {.text = "do not test --avoid at the start and --stop at the point after it", .stored = always}},
      {"waypoints", &T::waypoints, text_kind::file,
       {.text = "masks that a streamline must pass; up to 13", .many = true}},
      {"waypoint-rule", &T::rule, {{"and", waypoint_rule::all}, {"or", waypoint_rule::one}},
       {.text = "pass all --waypoints, or one of them", .stored = always}},
      {"ordered", &T::ordered, {.text = "pass the --waypoints in the order given", .stored = always}},
      {"each-half", &T::each_half,
       {.text = "each half must fulfil the rule alone", .stored = always}},
      {"min-length", &T::min_length_mm, range{0, 100000},
       {.text = "shorter halves are rejected", .unit = "mm", .stored = always}}})
    .group("Results", {
      {"lengths", &T::lengths,
       {.text = "also write path lengths: their sum and mean per voxel, and between regions", .stored = always}},
      {"directions", &T::directions,
       {.text = "also write the main direction of the streamlines in each voxel", .stored = always}},
      {"targets", &T::targets, text_kind::file,
       {.text = "masks: also count for each seed voxel the streamlines that reach each of them", .many = true}},
      {"streamlines", &T::streamlines, text_kind::file,
       {"also write accepted streamlines with their points to FILE (.h5)"}},
      {"max-streamlines", &T::max_streamlines, range{1, 1e8},
       {.text = "number of them, evenly distributed over all accepted ones",
        .stored = [](const T& r) { return !r.streamlines.empty(); }}}})
    .group("Matrices", {
      {"matrix1", &T::matrix1, text_kind::file, {"also write the sparse matrix of seed voxels by seed voxels to FILE (.h5)"}},
      {"matrix2", &T::matrix2, text_kind::file,
       {"also write the sparse matrix of seed voxels by the voxels of --target2 to FILE (.h5)"}},
      {"target2", &T::target2, text_kind::file, {"mask whose voxels, on its own grid, are the columns of --matrix2"}},
      {"matrix3", &T::matrix3, text_kind::file,
       {"also write the sparse matrix of the pairs of voxels of --target3 that streamlines connect to FILE (.h5)"}},
      {"target3", &T::target3, text_kind::file, {"mask whose voxels, on its own grid, are rows and columns of --matrix3"}},
      {"target3-columns", &T::target3_columns, text_kind::file,
       {"another mask whose voxels, on its own grid, are the columns of --matrix3"}},
      {"matrix-min-length", &T::matrix_min_length_mm, range{0, 100000},
       {.text = "streamlines whose halves are together shorter are not counted in --matrix1 and --matrix3", .unit = "mm",
        .stored = always}}});
  // clang-format on
  return table;
}

}  // namespace

void refuse_warp(const char* option, const std::string& path) {
  for (const char* ending : {".nii", ".nii.gz"})
    if (path.ends_with(ending) || (!std::filesystem::exists(path) && std::filesystem::exists(path + ending)))
      refuse(fmt::format("--{} {}: warps are not supported; give a matrix of FLIRT", option, printable(path)));
}

track_request with_mask_files(const track_request& request) {
  track_request r = request;
  for (auto [names, option] :
       {std::pair(&r.seed_image, "seed-image"), std::pair(&r.network, "network"), std::pair(&r.avoid, "avoid"),
        std::pair(&r.stop, "stop"), std::pair(&r.waypoints, "waypoints"),
        std::pair(&r.walk_through_stop, "walk-through-stop"), std::pair(&r.targets, "targets")})
    *names = find_mask_files(*names, option);
  if (!r.mask.empty()) {
    const std::vector<std::string> masks = find_mask_files({r.mask}, "mask");
    if (masks.size() > 1) refuse(fmt::format("--mask {}: names {} images, expected one", r.mask, masks.size()));
    r.mask = masks.front();
  }
  if (!r.reference.empty()) r.reference = find_mask_files({r.reference}, "seedref").front();
  if (!r.transform.empty()) refuse_warp("xfm", r.transform);
  if (r.waypoints.size() > static_cast<std::size_t>(track::max_waypoints))
    refuse(fmt::format("--waypoints is given {} files, expected at most {}", r.waypoints.size(), track::max_waypoints));
  if (r.walk_through_stop.size() > static_cast<std::size_t>(track::max_exit_masks))
    refuse(fmt::format("--walk-through-stop is given {} files, expected at most {}", r.walk_through_stop.size(),
                       track::max_exit_masks));
  if (r.ordered && r.waypoints.size() < 2)
    refuse(fmt::format("--ordered has no meaning with {} --waypoints; give at least two", r.waypoints.size()));
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

track::walk_settings make_walk_settings(const track_request& r, const image_grid& samples, const image_grid& seeds) {
  track::walk_settings how;
  const auto step = static_cast<double>(r.step_mm);
  constexpr double unit = track::direction_unit;
  // The first axis of the samples' directions may run against that of the image.
  const bool flipped = determinant(grid_space(samples).axes_mm) > 0;
  for (std::size_t d = 0; d < 3; ++d) {
    how.step_voxels[d] = static_cast<float>(step / (unit * samples.voxel_size_mm[d]) * (flipped && d == 0 ? -1 : 1));
    how.radius_voxels[d] = static_cast<float>(r.radius_mm / seeds.voxel_size_mm[d]);
  }
  how.random_start = r.radius_mm > 0;
  how.min_dot = static_cast<std::int32_t>(std::floor(static_cast<double>(r.curvature) * unit * unit));
  how.min_fraction = static_cast<std::uint32_t>(static_cast<double>(r.fibre_threshold) * track::fraction_unit);
  how.max_points = r.max_steps / 2;
  how.min_steps = static_cast<std::int32_t>(std::ceil(static_cast<double>(r.min_length_mm) / step - 1e-4));
  how.loop_check = r.loop_check;
  how.stop_by_fraction = r.stop_by_fraction;
  how.half_weight_ends = r.ends == end_weights::half;
  how.first = r.first;
  how.start_fibre = r.start_fibre;
  how.averaging = r.averaging;
  how.ignore_first_step = r.ignore_first_step;
  how.random_seed = r.random_seed;
  how.avoid = !r.avoid.empty();
  how.waypoints = static_cast<std::uint32_t>(r.waypoints.size());
  how.rule = r.rule;
  how.ordered = r.ordered;
  how.each_half = r.each_half;
  how.network = !r.network.empty();
  return how;
}

}  // namespace voxherd
