#include "src/analyses/connect/options.hpp"

#include <charconv>
#include <cmath>

#include "src/scan/label_image.hpp"
#include "src/scan/white_matter.hpp"

namespace voxherd {

namespace {

using connect::scheme_kind;
using tensor_field::metric_kind;

point_in_mm parse_point(const std::string& text, const char* option) {
  point_in_mm point{};
  const char *at = text.data(), *end = text.data() + text.size();
  bool good = true;
  for (std::size_t d = 0; d < 3 && good; ++d) {
    const auto [stopped, code] = std::from_chars(at, end, point[d]);
    good =
        code == std::errc{} && std::isfinite(point[d]) && (d < 2 ? stopped < end && *stopped == ',' : stopped == end);
    at = stopped + 1;
  }
  if (!good)
    refuse_usage("--{} {}: expected three numbers separated by commas, x,y,z in world mm (RAS+), e.g. -12.5,30,8",
                 option, text);
  return point;
}

void check_request(const connect_request& r, const given_options&) {
  if (r.order == 2 && r.scheme != scheme_kind::selling)
    refuse_usage("--order 2 is only for --scheme selling; leave it out");
  if (!r.paths.empty() && r.in_place)
    refuse_usage(
        "--paths computes the arrival times a second time, and --in-place gives different times in each run; leave one "
        "of the two out");
  if (r.bootstrap > 0 && !r.tensors.tensor.empty())
    refuse_usage(
        "--bootstrap resamples the diffusion-weighted series; give --dwi, --bvals and --bvecs instead of --tensor");
}

}  // namespace

const option_table<connect_request>& connect_options() {
  using T = connect_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .include(&T::tensors, tensor_source_options())
    .group("Regions", {
      {"from", &T::from, text_kind::file, {"region where paths start: mask, parcellation or surface"}},
      {"from-labels", &T::from_labels, parse_labels,
       {.text = "labels of --from, e.g. 3,17,20-25", .value = "LIST", .standard = "all above 0",
        .stored = if_it_applies, .needs = "from"}},
      {"from-point", &T::from_point, parse_point,
       {.text = "a point instead of --from: world mm (RAS+), e.g. -12.5,30,8", .value = "X,Y,Z",
        .stored = always}},
      {"to", &T::to, text_kind::file, {"region where paths end: mask, parcellation or surface"}},
      {"to-labels", &T::to_labels, parse_labels,
       {.text = "labels of --to", .value = "LIST", .standard = "all above 0",
        .stored = if_it_applies, .needs = "to"}},
      {"to-point", &T::to_point, parse_point,
       {.text = "a point instead of --to: world mm (RAS+)", .value = "X,Y,Z", .stored = always}},
      {"ball", &T::ball_voxels, range{0, 20},
       {.text = "radius around a point within which its tensor is assumed constant; times are exact there",
        .unit = "voxels", .stored = if_it_applies, .needs = "from-point|to-point", .paper = true}},
      {"connectome", &T::connectome, text_kind::file,
       {.text = "parcellation between whose regions costs are computed, instead of --from and --to; or several masks or surfaces",
        .many = true}},
      {"labels", &T::labels, parse_labels,
       {.text = "labels of --connectome", .value = "LIST", .standard = "all above 0",
        .stored = if_it_applies, .needs = "connectome"}},
      {"region-names", &T::region_names, text_kind::file,
       {.text = "names of the matrices' rows and columns: text, one region per line: label, name",
        .needs = "connectome"}},
      {"within", &T::within, text_kind::file,
       {"mask that paths stay in, e.g. white matter; without it all voxels with a tensor"}},
      {"within-fa", &T::within_FA, range{0, 1},
       {.text = within_FA_help, .standard = "everywhere", .stored = always}}})
    .one_of({"from|from-point to|to-point", "connectome"})
    .include(&T::surfaces, surface_options())
    .group("Metric", {
      {"metric", &T::metric, {{"inverse", metric_kind::inverse}, {"adjugate", metric_kind::adjugate},
                              {"power", metric_kind::power}, {"jeong", metric_kind::jeong}},
       {.text = "how the diffusion tensor D determines the speed in each direction (formulas: docs/commands/geodesic.md)", .stored = always}},
      {"alpha", &T::alpha, range{0.1, 10},
       {.text = "exponent of the metric; a larger one slows what is not along a fibre", .defaults = {{"metric=jeong", "3"}, {"", "1"}}, .stored = always,
        .needs = "metric=power|jeong"}},
      {"smooth", &T::smoothing_voxels, range{0, 10},
       {.text = "width (standard deviation) of the log-Euclidean smoothing of the tensors; 0: none", .unit = "voxels", .stored = always}},
      {"max-ratio", &T::max_ratio, range{1, 10000},
       {.text = "largest ratio of the squared speeds along and across fibres; smaller eigenvalues of D are raised", .stored = always}}})
    .group("Solver", {
      {"scheme", &T::scheme, {{"selling", scheme_kind::selling}, {"godunov27", scheme_kind::godunov27},
                              {"hl26", scheme_kind::hl26}},
       {.text = "scheme that computes an arrival time from its neighbours (godunov27: Jeong 2007)", .stored = always,
        .paper = true}},
      {"order", &T::order, range{1, 2},
       {.text = "order of the differences; 2 only with selling",
        .defaults = {{"scheme=godunov27|hl26", "1"}, {"", "2"}}, .stored = always, .paper = true}},
      {"tolerance", &T::tolerance, range{0, 0.01},
       {.text = "relative change of an arrival time below which it counts as final", .stored = always, .paper = true}},
      {"in-place", &T::in_place, {.text = "faster, but no two runs give the same bytes", .stored = always, .paper = true}}})
    .group("Results", {
      {"epsilon", &T::epsilon, range{0.0001, 10},
       {.text = "the pathway contains paths that cost up to this fraction more than the least cost", .stored = if_it_applies,
        .needs = "from|from-point"}},
      {"paths", &T::paths, text_kind::file,
       {"write paths to this result file: through the pathway's voxels, or the least-cost path of each pair"}},
      {"max-paths", &T::max_paths, range{1, 1'000'000},
       {.text = "largest number of paths through the pathway", .stored = if_it_applies,
        .needs = "paths, from|from-point"}},
      {"bootstrap", &T::bootstrap, range{0, 10000},
       {.text = "number of times that --dwi is resampled (wild bootstrap), for an interval of every cost; 0: none", .stored = always}},
      {"random-seed", &T::random_seed, at_least(0),
       {.text = "start of the bootstrap's random numbers; the same one gives the same result", .stored = if_it_applies, .needs = "bootstrap"}},
      {"interval", &T::interval_percent, range{1, 99.9},
       {.text = "percentage of the replicates within the interval", .unit = "%", .stored = if_it_applies,
        .needs = "bootstrap", .paper = true}},
      {"gain", &T::gain,
       {.text = "also solve with equal speeds in all directions, for the matrices gain and isotropic_cost, which rank pairs",
        .stored = if_it_applies, .needs = "connectome"}},
      {"arrivals", &T::arrivals, text_kind::file,
       {"write the arrival times of every region's front to this result file"}}})
    .include(&T::run, run_options())
    .check(check_request);
  // clang-format on
  return table;
}

connect_request read_settings_for_other_ends(const nlohmann::json& configuration) {
  const connect_request blank;
  connect_request r = connect_options().read_stored(configuration);
  r.from_labels = r.to_labels = r.labels = {};
  r.from_point = r.to_point = std::nullopt;
  r.epsilon = blank.epsilon;
  r.gain = blank.gain;
  r.bootstrap = blank.bootstrap;
  r.in_place = blank.in_place;
  return r;
}

end_choice choose_end(const connect_request& r, end_side side) {
  const bool from = side == end_side::from;
  if (const auto& point = from ? r.from_point : r.to_point) return {"", {}, *point};
  return {from ? r.from : r.to, from ? r.from_labels : r.to_labels, {}};
}

connect_settings make_connect_settings(const connect_request& request) {
  connect_settings o{connect_options().complete(request), {}, {}};
  o.how.metric = o.metric;
  o.how.alpha = *o.alpha;
  o.how.smoothing_voxels = o.smoothing_voxels;
  o.how.min_eigenvalue = tensor_field::min_eigenvalue(o.metric, *o.alpha, o.max_ratio);
  o.solver.scheme = o.scheme;
  o.solver.order = *o.order;
  o.solver.tolerance = static_cast<float>(o.tolerance);
  o.solver.in_place = o.in_place;
  return o;
}

/// Lengths are in mm, D in mm2/s: G = D^-1, and Jeong's, which has the same determinant, give mm / (mm2/s)^(1/2).
std::string cost_unit(const tensor_field::preparation& how) {
  return how.metric == metric_kind::inverse || how.metric == metric_kind::jeong ? "s^(1/2)" : "metric";
}

}  // namespace voxherd
