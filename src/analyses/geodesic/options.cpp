#include "src/analyses/geodesic/options.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

using geodesic::direction_kind;
using geodesic::integrator;
using geodesic::interpolation;
using geodesic::measure_kind;
using geodesic::metric_kind;
using geodesic::ray_form;
using option::refuse;
using option::refuse_given;

constexpr double longest_mm = 100000;
constexpr float default_length_mm = 250;
constexpr std::uint32_t max_ray_steps = 10'000'000;

bool has_points(const seeding_request& r) { return !r.points.empty(); }
bool has_cone(const ray_request& r) { return r.directions == direction_kind::cone; }

void check_seeding(const seeding_request& r, const given_options& given) {
  if (r.points.empty() && r.image.empty())
    refuse("neither --seed-points nor --seed-image is given: a text file of x y z, or a mask or parcellation");
  if (!r.points.empty() && !r.image.empty()) refuse("--seed-points and --seed-image exclude each other; give one");
  if (!r.points.empty()) {
    for (const char* name : {"seed-labels", "seeding", "seeds-per-voxel"})
      refuse_given(given, name, "with --seed-points");
    return;
  }
  if (r.kind == seeding_kind::grid && r.per_voxel > 100)
    refuse(fmt::format("--seeds-per-voxel {}: expected 1 to 100 with --seeding grid", r.per_voxel));
  if (r.kind == seeding_kind::center && r.per_voxel > 1)
    refuse(fmt::format("--seeds-per-voxel {}: a voxel has one center; give --seeding random or grid", r.per_voxel));
}

void check_regions(const region_request& r, const given_options& given) {
  if (r.includes.size() > static_cast<std::size_t>(geodesic::region::max_includes))
    refuse(fmt::format("--include is given {} times, expected at most {}", r.includes.size(),
                       geodesic::region::max_includes));
  if (r.ordered && r.includes.size() < 2)
    refuse(fmt::format("--ordered has no meaning with {} --include; give at least two", r.includes.size()));
  if (!r.connectome.empty()) {
    for (const char* name : {"targets", "target-labels"})
      refuse_given(given, name, "with --connectome, whose labels are all targets");
  } else if (r.targets.empty()) {
    for (const char* name : {"target-labels", "region-names"}) refuse_given(given, name, "without --targets");
  }
}

/// An axis has one direction for a fibre of two rays, two for a single ray.
void check_directions(const ray_request& r, const given_options& given) {
  const std::uint32_t most = *r.two_way ? 1 : 2;
  if (r.directions == direction_kind::axis && *r.directions_per_seed > most)
    refuse(fmt::format("--directions {}: --direction-set axis with --rays {} has {}; more would repeat the same fibres",
                       *r.directions_per_seed, *r.two_way ? "two-way" : "one-way",
                       most == 1 ? "one direction" : "two opposite directions"));
  if (!has_cone(r)) refuse_given(given, "cone", "without --direction-set cone");
}

void check_form(const ray_request& r, const given_options& given) {
  const bool christoffel = r.form == ray_form::christoffel;
  if (r.interpolation == interpolation::texture && !christoffel)
    refuse("--interpolation texture is only for --form christoffel; give that form, or --interpolation trilinear");
  if (r.integrator == integrator::rk2_frozen && !christoffel && r.form != ray_form::hamiltonian)
    refuse("--integrator rk2-frozen is only for --form christoffel and hamiltonian; give euler, rk2 or rk4");
  if (r.form == ray_form::finsler4)
    for (const char* name : {"metric", "alpha", "smooth"})
      refuse_given(given, name, "with --form finsler4, which has its own norm");
  if (r.form != ray_form::streamline) return;
  for (const char* name : {"metric", "alpha"}) refuse_given(given, name, "with --form streamline, which has no metric");
  refuse_given(given, "max-drift", "with --form streamline, which conserves no energy");
  if (r.directions != direction_kind::axis)
    refuse("--form streamline follows the main eigenvector in any direction; leave --direction-set at axis");
}

void check_rays(const ray_request& r, const given_options& given) {
  const float max_length_mm = r.max_length_mm.value_or(default_length_mm);
  if (r.min_length_mm > max_length_mm)
    refuse(fmt::format("--min-length {} is above --max-length {}: no fibre could be accepted", r.min_length_mm,
                       max_length_mm));
  check_directions(r, given);
  if (r.measure != measure_kind::ratio && r.min_measure > 1)
    refuse(fmt::format("--min-measure {}: expected 0 to 1", r.min_measure));
  if (r.metric != metric_kind::power && r.metric != metric_kind::jeong)
    refuse_given(given, "alpha", "without --metric power or jeong");
  check_form(r, given);
}

void check_request(const geodesic_request& request, const given_options& given) {
  check_seeding(request.seeding, given);
  check_regions(request.regions, given);
  const ray_request rays = with_defaults(request);
  check_rays(rays, given);
  if (rays.form == ray_form::finsler4 && !request.tensors.tensor.empty())
    refuse("--form finsler4 is fitted to the diffusion-weighted series; give --dwi instead of --tensor");
  if (request.regions.ordered && *rays.two_way)
    refuse("--ordered has no meaning with two-way fibres, which have no start; give --rays one-way");
}

const option_table<seeding_request>& seeding_options() {
  using T = seeding_request;
  const auto in_voxels = [](const T& r) { return !has_points(r); };
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Seeds", {
      {"seed-points", &T::points, text_kind::file, {"text file, one seed per line: x y z in world mm (RAS+)"}},
      {"seed-image", &T::image, text_kind::file, {"mask or parcellation whose voxels are seeded"}},
      {"seed-labels", &T::labels, parse_labels,
       {.text = "labels of --seed-image, e.g. 3,17,20-25", .value = "LIST", .standard = "all above 0", .stored = in_voxels}},
      {"seeding", &T::kind, {{"center", seeding_kind::center}, {"random", seeding_kind::random},
                             {"grid", seeding_kind::grid}},
       {.text = "position of seeds in a voxel", .stored = in_voxels}},
      {"seeds-per-voxel", &T::per_voxel, range{1, 1'000'000},
       {.text = "random: seeds per voxel; grid: seeds along each axis, at most 100", .stored = in_voxels}}});
  // clang-format on
  return table;
}

const option_table<region_request>& region_options() {
  using T = region_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Regions", {
      {"exclude", &T::excludes, text_kind::file, {"mask that no fibre may touch"}},
      {"include", &T::includes, text_kind::file, {"mask that each fibre must touch; up to 14"}},
      {"ordered", &T::ordered,
       {.text = "fibres must touch the --include masks in the order given; needs one-way rays", .stored = always}},
      {"targets", &T::targets, text_kind::file,
       {"mask or parcellation: rays end in it, and fibres that do not reach it are rejected"}},
      {"target-labels", &T::target_labels, parse_labels,
       {.text = "labels of --targets, e.g. 3,17,20-25", .value = "LIST", .standard = "all above 0", .stored = always}},
      {"connectome", &T::connectome, text_kind::file,
       {"parcellation: all labels are targets, fibres run both ways, and matrices between the labels are written"}},
      {"region-names", &T::region_names, text_kind::file,
       {"names of the targets in the matrices: text, one region per line: label, name"}}});
  // clang-format on
  return table;
}

const option_table<ray_request>& ray_options() {
  using T = ray_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Fibres", {
      {"form", &T::form, {{"christoffel", ray_form::christoffel}, {"hamiltonian", ray_form::hamiltonian},
                          {"finsler4", ray_form::finsler4}, {"streamline", ray_form::streamline}},
       {.text = "equations: three forms of geodesics, or streamlines along the main eigenvector", .stored = always}},
      {"interpolation", &T::interpolation, {{"trilinear", interpolation::trilinear},
                                            {"bspline", interpolation::bspline}, {"texture", interpolation::texture}},
       {.text = "interpolation of tensors; texture: only christoffel on a GPU",
        .standard = "bspline; streamline, finsler4: trilinear", .stored = always}},
      {"integrator", &T::integrator, {{"euler", integrator::euler}, {"rk2-frozen", integrator::rk2_frozen},
                                      {"rk2", integrator::rk2}, {"rk4", integrator::rk4}},
       {.text = "integration scheme", .stored = always}},
      {"step", &T::step_mm, zero_or(0.0001, 100),
       {.text = "step length; 0: the smallest voxel side / 2, streamline / 4, euler and rk2-frozen / 10",
        .unit = "mm", .stored = always}},
      {"max-steps", &T::max_steps, range{0, max_ray_steps},
       {.text = "steps of a ray; 0: as many as --max-length needs", .stored = always}},
      {"max-length", &T::max_length_mm, range{0.001, longest_mm},
       {.text = "length of a fibre; no limit if only --max-steps is given", .unit = "mm", .standard = "250",
        .stored = always}},
      {"min-length", &T::min_length_mm, range{0, longest_mm},
       {.text = "shorter fibres are rejected", .unit = "mm", .stored = always}},
      {"min-radius", &T::min_radius_mm, range{0, 1000},
       {.text = "smallest radius of curvature; 0: any", .unit = "mm", .standard = "0; streamline: the step",
        .stored = always}},
      {"min-fa", &T::min_FA, range{0, 1},
       {.text = "rays end below this fractional anisotropy; 0: never", .standard = "0; streamline: 0.15",
        .stored = always}},
      {"max-drift", &T::max_drift, range{0, 100},
       {.text = "rays end when their energy has changed by this fraction; 0: never", .stored = always}},
      {"no-loop-check", &T::no_loop_check, {.text = "do not end rays that return to an earlier point", .stored = always}},
      {"rays", &T::two_way, {{"one-way", false}, {"two-way", true}},
       {.text = "a fibre is one ray from the seed, or two in opposite directions",
        .standard = "one-way; streamline, connectome: two-way", .stored = always}},
      {"direction-set", &T::directions, {{"sphere", direction_kind::sphere}, {"cone", direction_kind::cone},
                                         {"random", direction_kind::random}, {"axis", direction_kind::axis}},
       {.text = "directions in which rays leave a seed", .standard = "sphere; streamline: axis", .stored = always}},
      {"directions", &T::directions_per_seed, range{1, 1'000'000},
       {.text = "directions per seed", .standard = "64; axis: 1", .stored = always}},
      {"cone", &T::cone_degrees, range{0.1, 90},
       {.text = "half angle of the cone around the main eigenvector", .unit = "degrees", .stored = has_cone}},
      {"seed", &T::random_seed, at_least(0), {.text = "random seed", .stored = always}}})
    .group("Metric", {
      {"metric", &T::metric, {{"inverse", metric_kind::inverse}, {"adjugate", metric_kind::adjugate},
                              {"power", metric_kind::power}, {"jeong", metric_kind::jeong}},
       {.text = "how the tensor D defines the metric", .stored = always}},
      {"alpha", &T::alpha, range{0.1, 10}, {.text = "exponent of power and jeong", .stored = always}},
      {"smooth", &T::smoothing_voxels, range{0, 10},
       {.text = "standard deviation of log-Euclidean smoothing; 0: none", .unit = "voxels",
        .standard = "0.7; finsler4, streamline: 0", .stored = always}},
      {"least-eigenvalue", &T::min_eigenvalue, range{0.0001, 1},
       {.text = "smaller eigenvalues are raised to this fraction of the largest one",
        .standard = "0.1; finsler4, streamline: 0.01", .stored = always}}})
    .group("Selection", {
      {"measure", &T::measure, {{"ratio", measure_kind::ratio}, {"relative", measure_kind::relative},
                                {"weakest", measure_kind::weakest}},
       {.text = "rank fibres by Euclidean over Riemannian length, the same relative to following the main "
                "eigenvector, or the smallest relative speed along the fibre", .stored = always}},
      {"min-measure", &T::min_measure, range{0, 1e6},
       {.text = "fibres with a smaller measure are rejected; at most 1 for relative and weakest", .stored = always}},
      {"top", &T::top, range{0, 1'000'000'000}, {.text = "best fibres kept per pair of regions; 0: all", .stored = always}},
      {"distinct", &T::distinct_mm, range{0, 1000},
       {.text = "two fibres of a pair with a smaller average distance count as one route; 0: keep all", .unit = "mm",
        .stored = always}},
      {"output-step", &T::output_step_mm, zero_or(0.001, 1000),
       {.text = "distance between the points written; 0: half the smallest voxel side", .unit = "mm",
        .stored = always}}});
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
                                           .check(check_request);
  return table;
}

/// Geodesics need a field that a cubic B-spline leaves positive between voxels; docs/papers/van-aart-2011.md shows the
/// effect of smoothing and of the least eigenvalue in a real brain.
ray_request with_defaults(const geodesic_request& request) {
  ray_request r = request.rays;
  const bool streamline = r.form == ray_form::streamline;
  const bool tensor_geodesics = r.form == ray_form::christoffel || r.form == ray_form::hamiltonian;
  if (!r.interpolation) r.interpolation = tensor_geodesics ? interpolation::bspline : interpolation::trilinear;
  if (!r.min_FA) r.min_FA = streamline ? 0.15f : 0.0f;
  if (!r.two_way) r.two_way = streamline || request.is_connectome();
  if (!r.directions) r.directions = streamline ? direction_kind::axis : direction_kind::sphere;
  if (!r.directions_per_seed) r.directions_per_seed = r.directions == direction_kind::axis ? 1 : 64;
  if (!r.smoothing_voxels) r.smoothing_voxels = tensor_geodesics ? 0.7 : 0.0;
  if (!r.min_eigenvalue) r.min_eigenvalue = tensor_geodesics ? 0.1 : 0.01;
  return r;
}

void check_device(const ray_request& rays, backend where) {
  if (rays.interpolation == interpolation::texture && where != backend::cuda)
    refuse("--interpolation texture needs a GPU; give --backend cuda, or --interpolation trilinear");
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
      refuse(fmt::format("--max-length {} takes {} steps of {} mm, expected at most {}; give a longer --step",
                         *r.max_length_mm, steps, r.step_mm, max_ray_steps));
    r.max_steps = static_cast<std::uint32_t>(steps);
  } else if (only_steps) {
    r.max_length_mm = 2 * static_cast<float>(r.max_steps) * r.step_mm;  // two rays of so many steps
  }
  // A turn of 60 degrees from one step to the next, MRtrix's limit: radius = step / (2 sin 30).
  if (!r.min_radius_mm) r.min_radius_mm = streamline ? r.step_mm : 0.0f;
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
  c.rays.min_radius_mm = *r.min_radius_mm;
  c.rays.min_FA = *r.min_FA;
  c.rays.max_drift = r.max_drift;
  c.rays.stop_at_loops = !r.no_loop_check;
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
  c.how.min_eigenvalue = *r.min_eigenvalue;
  c.selection = {r.top, r.distinct_mm, r.output_step_mm};
  return c;
}

}  // namespace voxherd
