#include "src/analyses/geodesic/options.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/scan/label_image.hpp"
#include "src/scan/white_matter.hpp"

namespace voxherd {

namespace {

using geodesic::direction_kind;
using geodesic::integrator;
using geodesic::interpolation;
using geodesic::measure_kind;
using geodesic::ray_form;
using option::refuse_given;
using tensor_field::metric_kind;

constexpr double longest_mm = 100000, any_angle = 180;
constexpr float default_length_mm = 250;
constexpr std::uint32_t max_ray_steps = 10'000'000;

/// 0.1 of the largest eigenvalue of D under any exponent: geodesics need a field that a cubic B-spline leaves positive
/// between voxels; docs/papers/van-aart-2011.md shows the effect of this ratio and of smoothing in a real brain.
void fill_in_ratio(geodesic_request& request) {
  ray_request& r = request.rays;
  if (r.max_ratio) return;
  const bool has_tensors = r.form == ray_form::christoffel || r.form == ray_form::hamiltonian;
  r.max_ratio = !has_tensors ? 100 : tensor_field::has_exponent(r.metric) ? std::pow(10, r.alpha) : 10;
}

float min_cosine(double max_angle_degrees) {
  if (max_angle_degrees >= any_angle) return -2;
  return static_cast<float>(std::cos(max_angle_degrees * std::numbers::pi / 180));
}

void check_seeding(const seeding_request& r) {
  if (!r.points.empty()) return;
  if (r.kind == seeding_kind::grid && r.per_voxel > 100)
    refuse_usage("--seeds-per-voxel {}: expected 1 to 100 with --seeding grid", r.per_voxel);
  if (r.kind == seeding_kind::center && r.per_voxel > 1)
    refuse_usage("--seeds-per-voxel {}: a voxel has one center; give --seeding random or grid", r.per_voxel);
}

void check_regions(const region_request& r) {
  if (r.includes.size() > static_cast<std::size_t>(tensor_field::region::max_includes))
    refuse_usage("--include is given {} times, expected at most {}", r.includes.size(),
                 tensor_field::region::max_includes);
  if (r.ordered && r.includes.size() < 2)
    refuse_usage("--ordered has no meaning with {} --include; give at least two", r.includes.size());
}

/// An axis has one direction for a fibre of two rays, two for a single ray.
void check_directions(const ray_request& r) {
  const std::uint32_t most = *r.two_way ? 1 : 2;
  if (r.directions == direction_kind::axis && *r.directions_per_seed > most)
    refuse_usage("--directions {}: --direction-set axis with --rays {} has {}; more would repeat the same paths",
                 *r.directions_per_seed, *r.two_way ? "two-way" : "one-way",
                 most == 1 ? "one direction" : "two opposite directions");
}

void check_form(const ray_request& r, const given_options& given) {
  const bool christoffel = r.form == ray_form::christoffel;
  if (r.interpolation == interpolation::texture && !christoffel)
    refuse_usage(
        "--interpolation texture is only for --form christoffel; give that form, or --interpolation trilinear");
  if (r.integrator == integrator::rk2_frozen && !christoffel && r.form != ray_form::hamiltonian)
    refuse_usage("--integrator rk2-frozen is only for --form christoffel and hamiltonian; give euler, rk2 or rk4");
  if (r.form == ray_form::finsler4)
    for (const char* name : {"metric", "smooth"})
      refuse_given(given, name, "with --form finsler4, which has its own norm");
  if (r.form != ray_form::streamline) return;
  refuse_given(given, "metric", "with --form streamline, which has no metric");
  if (r.directions != direction_kind::axis)
    refuse_usage("--form streamline follows the main eigenvector in any direction; leave --direction-set at axis");
}

void check_rays(const ray_request& r, const given_options& given) {
  const float max_length_mm = r.max_length_mm.value_or(default_length_mm);
  if (r.min_length_mm > max_length_mm)
    refuse_usage("--min-length {} is above --max-length {}: no path could be accepted", r.min_length_mm, max_length_mm);
  check_directions(r);
  if (r.measure != measure_kind::ratio && r.min_measure > 1)
    refuse_usage("--min-measure {}: expected 0 to 1", r.min_measure);
  check_form(r, given);
}

void check_request(const geodesic_request& request, const given_options& given) {
  const ray_request& rays = request.rays;
  check_seeding(request.seeding);
  check_regions(request.regions);
  check_rays(rays, given);
  if (rays.form == ray_form::finsler4 && !request.tensors.tensor.empty())
    refuse_usage("--form finsler4 is fitted to the diffusion-weighted series; give --dwi instead of --tensor");
  if (request.regions.ordered && *rays.two_way)
    refuse_usage("--ordered has no meaning with two-way rays, whose path has no start; give --rays one-way");
}

const option_table<seeding_request>& seeding_options() {
  using T = seeding_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Seeds", {
      {"seed-points", &T::points, text_kind::file, {"text file, one seed per line: x y z in world mm (RAS+)"}},
      {"seed-image", &T::image, text_kind::file, {"mask or parcellation whose voxels are seeded, or surface whose vertices are seeds"}},
      {"seed-labels", &T::labels, parse_labels,
       {.text = "labels of --seed-image, e.g. 3,17,20-25", .value = "LIST", .standard = "all above 0",
        .stored = if_it_applies, .needs = "seed-image"}},
      {"seeding", &T::kind, {{"center", seeding_kind::center}, {"random", seeding_kind::random},
                             {"grid", seeding_kind::grid}},
       {.text = "position of seeds in a voxel", .stored = if_it_applies, .needs = "seed-image", .paper = true}},
      {"seeds-per-voxel", &T::per_voxel, range{1, 1'000'000},
       {.text = "random: seeds per voxel; grid: seeds along each axis, at most 100", .stored = if_it_applies,
        .needs = "seed-image", .paper = true}}})
    .one_of({"seed-image", "seed-points"});
  // clang-format on
  return table;
}

const option_table<region_request>& region_options() {
  using T = region_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Regions", {
      {"exclude", &T::excludes, text_kind::file, {"mask or surface that no path may touch"}},
      {"include", &T::includes, text_kind::file, {"mask or surface that each path must touch; up to 14"}},
      {"ordered", &T::ordered,
       {.text = "require the order of the --include masks; only with one-way rays", .stored = always, .paper = true}},
      {"targets", &T::targets, text_kind::file,
       {"mask, parcellation or surface where rays end; paths that do not reach it are rejected"}},
      {"target-labels", &T::target_labels, parse_labels,
       {.text = "labels of --targets, e.g. 3,17,20-25", .value = "LIST", .standard = "all above 0", .stored = always,
        .needs = "targets"}},
      {"connectome", &T::connectome, text_kind::file,
       {.text = "parcellation whose labels are all targets; paths have two rays, and matrices between the labels are written; "
                "or several masks or surfaces", .many = true}},
      {"region-names", &T::region_names, text_kind::file,
       {.text = "names of the targets in the matrices: text, one region per line: label, name",
        .needs = "targets|connectome"}},
      {"within-fa", &T::within_FA, range{0, 1},
       {.text = within_FA_help, .standard = "everywhere", .stored = always}}})
    .at_most_one_of({"targets", "connectome"})
    .include(&T::surfaces, surface_options());
  // clang-format on
  return table;
}

const option_table<ray_request>& ray_options() {
  using T = ray_request;
  const std::string length_text = fmt::format("{}", default_length_mm);
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Paths", {
      {"form", &T::form, {{"christoffel", ray_form::christoffel}, {"hamiltonian", ray_form::hamiltonian},
                          {"finsler4", ray_form::finsler4}, {"streamline", ray_form::streamline}},
       {.text = "equations: three forms of geodesics, or streamlines along the main eigenvector", .stored = always}},
      {"interpolation", &T::interpolation, {{"trilinear", interpolation::trilinear},
                                            {"bspline", interpolation::bspline}, {"texture", interpolation::texture}},
       {.text = "interpolation of tensors; texture: only christoffel on a GPU",
        .defaults = {{"form=streamline|finsler4", "trilinear"}, {"", "bspline"}}, .stored = always, .paper = true}},
      {"integrator", &T::integrator, {{"euler", integrator::euler}, {"rk2-frozen", integrator::rk2_frozen},
                                      {"rk2", integrator::rk2}, {"rk4", integrator::rk4}},
       {.text = "scheme that computes a ray step by step", .stored = always, .paper = true}},
      {"step", &T::step_mm, zero_or(0.0001, 100),
       {.text = "step length; 0: the smallest voxel side / 2, streamline / 4, euler and rk2-frozen / 10",
        .unit = "mm", .stored = always}},
      {"max-steps", &T::max_steps, range{0, max_ray_steps},
       {.text = "largest number of steps of a ray; 0: as many as --max-length needs", .stored = always, .paper = true}},
      {"max-length", &T::max_length_mm, range{0.001, longest_mm},
       {.text = "largest length of a path; no limit if only --max-steps is given", .unit = "mm", .standard = length_text.c_str(),
        .stored = always}},
      {"min-length", &T::min_length_mm, range{0, longest_mm},
       {.text = "smallest length of a path; shorter ones are rejected", .unit = "mm", .stored = always}},
      {"max-angle", &T::max_angle_degrees, range{0, 180},
       {.text = "largest angle between two successive steps; 180: any", .unit = "degrees",
        .defaults = {{"form=streamline", "60"}, {"", "180"}}, .stored = always}},
      {"min-fa", &T::min_FA, range{0, 1},
       {.text = "smallest fractional anisotropy, below which rays end; 0: none",
        .defaults = {{"form=streamline", "0.15"}, {"", "0"}}, .stored = always}},
      {"max-drift", &T::max_drift, range{0, 100},
       {.text = "relative change at which a ray ends of its energy, which an exact ray keeps; 0: any", .stored = always,
        .needs = "form=christoffel|hamiltonian|finsler4", .paper = true}},
      {"loop-check", &T::loop_check, {{"on", true}, {"off", false}},
       {.text = "whether a ray ends when it returns to an earlier point", .stored = always, .paper = true}},
      {"rays", &T::two_way, {{"one-way", false}, {"two-way", true}},
       {.text = "rays of a path: one from the seed, or two in opposite directions",
        .defaults = {{"form=streamline", "two-way"}, {"connectome", "two-way"}, {"", "one-way"}}, .stored = always}},
      {"direction-set", &T::directions, {{"sphere", direction_kind::sphere}, {"cone", direction_kind::cone},
                                         {"random", direction_kind::random}, {"axis", direction_kind::axis}},
       {.text = "directions in which rays leave a seed", 
        .defaults = {{"form=streamline", "axis"}, {"", "sphere"}}, .stored = always, .paper = true}},
      {"directions", &T::directions_per_seed, range{1, 1'000'000},
       {.text = "number of directions per seed", .defaults = {{"direction-set=axis", "1"}, {"", "64"}}, .stored = always}},
      {"cone", &T::cone_degrees, range{0.1, 90},
       {.text = "half angle of the cone around the main eigenvector", .unit = "degrees", .stored = if_it_applies,
        .needs = "direction-set=cone", .paper = true}},
      {"random-seed", &T::random_seed, at_least(0), {.text = "start of the random numbers; the same one gives the same result", .stored = always}}})
    .group("Metric", {
      {"metric", &T::metric, {{"inverse", metric_kind::inverse}, {"adjugate", metric_kind::adjugate},
                              {"power", metric_kind::power}, {"jeong", metric_kind::jeong}},
       {.text = "how the diffusion tensor D determines the speed in each direction (formulas: docs/commands/geodesic.md)", .stored = always}},
      {"alpha", &T::alpha, range{0.1, 10}, {.text = "exponent of the metric; a larger one slows what is not along a fibre", .stored = always, .needs = "metric=power|jeong"}},
      {"smooth", &T::smoothing_voxels, range{0, 10},
       {.text = "width (standard deviation) of the log-Euclidean smoothing of the tensors; 0: none", .unit = "voxels",
        .defaults = {{"form=finsler4|streamline", "0"}, {"", "0.7"}}, .stored = always}},
      {"max-ratio", &T::max_ratio, range{1, 1e12},
       {.text = "largest ratio of the squared speeds along and across fibres; smaller eigenvalues of D are raised",
        .standard = "10 (power, jeong: 10^alpha); finsler4, streamline: 100", .stored = always, .paper = true}}})
    .group("Selection", {
      {"measure", &T::measure, {{"ratio", measure_kind::ratio}, {"relative", measure_kind::relative},
                                {"weakest", measure_kind::weakest}},
       {.text = "measure that ranks paths: Euclidean over Riemannian length, the same relative to following the main "
                "eigenvector, or the smallest relative speed along the path", .stored = always}},
      {"min-measure", &T::min_measure, range{0, 1e6},
       {.text = "smallest measure of a path; at most 1 for relative and weakest", .stored = always, .paper = true}},
      {"top", &T::top, range{0, 1'000'000'000}, {.text = "number of best paths kept per pair of regions; 0: all", .stored = always}},
      {"distinct", &T::distinct_mm, range{0, 1000},
       {.text = "average distance below which two paths of a pair count as one route; 0: keep all", .unit = "mm",
        .stored = always}},
      {"output-step", &T::output_step_mm, zero_or(0.001, 1000),
       {.text = "distance between the points written; 0: half the smallest voxel side", .unit = "mm",
        .stored = always, .paper = true}}});
  // clang-format on
  return table;
}

}  // namespace

const option_table<geodesic_request>& geodesic_options() {
  using T = geodesic_request;
  static const option_table<T> table = option_table<T>()
                                           .include(&T::tensors, tensor_source_options())
                                           .include(&T::seeding, seeding_options())
                                           .include(&T::regions, region_options())
                                           .include(&T::rays, ray_options())
                                           .include(&T::run, run_options())
                                           .fill_in(fill_in_ratio)
                                           .check(check_request);
  return table;
}

void check_device(const ray_request& rays, backend where) {
  if (rays.interpolation == interpolation::texture && where != backend::cuda)
    refuse_usage("--interpolation texture needs a GPU; give --backend cuda, or --interpolation trilinear");
}

void fill_in_lengths(const image_grid& grid, ray_request& r) {
  const auto& side = grid.voxel_size_mm;
  const double smallest = std::min({side[0], side[1], side[2]});
  const bool first_order = r.integrator == integrator::euler || r.integrator == integrator::rk2_frozen;
  const bool streamline = r.form == ray_form::streamline;
  if (r.step_mm == 0) r.step_mm = static_cast<float>(smallest / (first_order ? 10 : streamline ? 4 : 2));
  if (r.step_mm > static_cast<float>(smallest))
    spdlog::warn("--step {} mm is longer than a voxel's side of {:.3g} mm; details between two steps are missed",
                 r.step_mm, smallest);
  const bool only_steps = r.max_steps > 0 && !r.max_length_mm;
  if (!r.max_length_mm) r.max_length_mm = default_length_mm;
  if (r.max_steps == 0) {
    const double steps = std::ceil(static_cast<double>(*r.max_length_mm) / static_cast<double>(r.step_mm));
    if (steps > max_ray_steps)
      refuse_usage("--max-length {} takes {} steps of {} mm, expected at most {}; give a longer --step",
                   *r.max_length_mm, steps, r.step_mm, max_ray_steps);
    r.max_steps = static_cast<std::uint32_t>(steps);
  } else if (only_steps) {
    r.max_length_mm = 2 * static_cast<float>(r.max_steps) * r.step_mm;  // two rays of so many steps
  }
  if (r.output_step_mm == 0) r.output_step_mm = smallest / 2;
}

ray_choice make_ray_choice(const ray_request& r) {
  ray_choice c;
  c.rays.form = r.form;
  c.rays.reading = *r.interpolation;
  c.rays.method = r.integrator;
  c.rays.step_mm = r.step_mm;
  c.rays.max_steps = r.max_steps;
  c.rays.max_length_mm = *r.max_length_mm;
  c.rays.min_length_mm = r.min_length_mm;
  c.rays.min_cosine = min_cosine(*r.max_angle_degrees);
  c.rays.min_FA = *r.min_FA;
  c.rays.max_drift = r.max_drift;
  c.rays.stop_at_loops = r.loop_check;
  c.rays.two_way = *r.two_way;
  c.rays.directions = *r.directions;
  c.rays.directions_per_seed = *r.directions_per_seed;
  c.rays.cone_degrees = r.cone_degrees;
  c.rays.random_seed = r.random_seed;
  c.rays.measure = r.measure;
  c.rays.min_measure = r.min_measure;
  c.how.metric = r.metric;
  c.how.alpha = r.alpha;
  c.how.smoothing_voxels = *r.smoothing_voxels;
  c.how.min_eigenvalue = tensor_field::min_eigenvalue(r.metric, r.alpha, *r.max_ratio);
  c.selection = {r.top, r.distinct_mm, r.output_step_mm};
  return c;
}

}  // namespace voxherd
