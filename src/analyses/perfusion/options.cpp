#include "src/analyses/perfusion/options.hpp"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "core/number_text.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

using namespace perfusion;
using option::refuse;

frame_range parse_baseline(const std::string& text, const char* option) {
  const auto ends = parse_numbers(text, option);
  if (ends.size() != 2 || ends[0] < 0 || ends[1] < ends[0] || ends[0] != std::floor(ends[0]) ||
      ends[1] != std::floor(ends[1]) || ends[1] > 1e6)
    refuse(fmt::format("--{} {}: expected the first and the last frame, counted from 0, e.g. 0,6", option, text));
  return {static_cast<std::size_t>(ends[0]), static_cast<std::size_t>(ends[1])};
}

std::string print_range(const frame_range& frames) { return fmt::format("{},{}", frames.first, frames.second); }

std::string print_frames(const std::vector<frame_range>& list) {
  std::string text;
  for (const auto& [first, last] : list)
    text += (text.empty() ? "" : ",") + (first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
  return text;
}

/// --model takes the names of model_forms().
template <std::size_t... I>
option_table<perfusion_request> model_option(std::index_sequence<I...>, const option_notes& notes) {
  const auto list = model_forms();
  return option_table<perfusion_request>().group(
      "Model", {{"model", &perfusion_request::model, {{list[I].name, static_cast<int>(I)}...}, notes}});
}

option_table<perfusion_request> input_options() {
  using T = perfusion_request;
  static const std::string with_portal = "model=" + names_with_portal_input();
  // clang-format off
  return option_table<T>()
    .group("Input", {
      {"dynamic", &T::dynamic, text_kind::file,
       {.text = "dynamic series: a 4-D NIfTI image, one image per frame in the order of time, or a .txt that lists them",
        .required = true, .many = true}},
      {"times", &T::times, text_kind::file,
       {"times of the frames in s: text, one number per frame, or a sidecar of BIDS (.json)"}},
      {"spacing", &T::spacing_s, range{0.01, 3600}, {.text = "time between frames", .value = "S", .unit = "s"}},
      {"mask", &T::mask, text_kind::file, {"mask of the voxels to fit; without it all"}},
      {"skip-frames", &T::skipped, {parse_frames, print_frames},
       {.text = "frames to leave out of the fit, counted from 0, e.g. 3,41-47", .value = "LIST"}},
      {"arterial-voi", &T::arterial_voi, text_kind::file, {"mask of voxels in the aorta or hepatic artery"}},
      {"arterial-labels", &T::arterial_labels, parse_labels,
       {.text = "labels of --arterial-voi that are the artery, if it is a segmentation of several parts, e.g. 1",
        .value = "LIST", .stored = if_it_applies, .needs = "arterial-voi"}},
      {"portal-voi", &T::portal_voi, text_kind::file, {.text = "mask of voxels in the portal vein", .needs = with_portal.c_str()}},
      {"portal-labels", &T::portal_labels, parse_labels,
       {.text = "labels of --portal-voi that are the portal vein, e.g. 2", .value = "LIST", .stored = if_it_applies,
        .needs = "portal-voi"}},
      {"arterial-curve", &T::arterial_curve, text_kind::file,
       {"table of time (s) and concentration, instead of --arterial-voi"}},
      {"portal-curve", &T::portal_curve, text_kind::file,
       {.text = "table of time (s) and concentration, instead of --portal-voi", .needs = with_portal.c_str()}},
      {"curves", &T::curves, text_kind::file,
       {"table of time (s), arterial and portal concentration, instead of all four"}}})
    .include(&T::regions, item_region_options())
    .one_of({"times", "spacing"})
    .one_of({"arterial-voi|arterial-curve portal-voi|portal-curve", "curves"})
    .append(model_option(std::make_index_sequence<model_form_count>(),
       {.text = "blood supply: hepatic artery and portal vein, or only the artery", .stored = always}))
    .group("Model", {
      {"haematocrit", &T::haematocrit, range{0, 0.9},
       {.text = "haematocrit X: both inputs are divided by 1 - X; 0: flows of blood instead of plasma", .stored = always}},
      {"density", &T::density_g_per_ml, range{0.5, 2},
       {.text = "density of the tissue, for flows per 100 g", .unit = "g/ml", .stored = always, .paper = true}}});
  // clang-format on
}

option_table<perfusion_request> signal_options() {
  using T = perfusion_request;
  // clang-format off
  return option_table<T>()
    .group("Signal", {
      {"signal", &T::signal, {{"concentration", signal_kind::concentration}, {"linear", signal_kind::linear},
                              {"spgr", signal_kind::spoiled_echo}, {"ct", signal_kind::ct}},
       {.text = "content of the series; linear: MR, R1 proportional to signal; spgr: spoiled gradient echo; ct: HU",
        .standard = "concentration", .stored = always}},
      {"baseline", &T::baseline, {parse_baseline, print_range},
       {.text = "first and last frame before the contrast agent arrives, counted from 0, e.g. 0,6", .value = "LIST",
        .standard = "detected", .needs = "signal=linear|spgr|ct"}},
      {"arterial-baseline", &T::arterial_S0, {{"own", arterial_baseline::own}, {"portal", arterial_baseline::portal}},
       {.text = "signal of the arterial VOI before the contrast agent arrives: its own, or the portal one where inflow distorts the aorta's",
        .stored = always}},
      {"relaxivity", &T::relaxivity, range{0.1, 100},
       {.text = "longitudinal relaxivity r1 of the contrast agent", .unit = "/s/mM", .stored = if_it_applies, .needs = "signal=linear|spgr"}},
      {"tr", &T::repetition_ms, range{0.1, 10000},
       {.text = "repetition time of the series", .unit = "ms", .stored = if_it_applies,
        .needs = "signal=linear|spgr"}},
      {"flip-angle", &T::flip_degrees, range{0.1, 90},
       {.text = "flip angle of the series", .unit = "degrees", .stored = if_it_applies, .needs = "signal=spgr"}},
      {"t1", &T::t1_s, range{0.01, 10},
       {.text = "T1 of the tissue without contrast agent, instead of --t1-map or --vfa", .unit = "s", .stored = if_it_applies,
        .needs = "signal=linear|spgr"}},
      {"t1-map", &T::t1_map, text_kind::file, {.text = "image of T1 without contrast agent", .needs = "signal=linear|spgr"}},
      {"t1-map-unit", &T::t1_map_unit_s, {{"s", 1}, {"ms", 0.001}},
       {.text = "unit of --t1-map", .stored = if_it_applies, .needs = "t1-map", .paper = true}},
      {"vfa", &T::vfa, text_kind::file,
       {.text = "spoiled gradient echoes at several flip angles: a 4-D image, or one image per angle; T1 is fitted to "
                "them", .needs = "signal=linear|spgr", .many = true}},
      {"vfa-flip-angles", &T::vfa_flip_angles, text_kind::any,
       {.text = "flip angles of --vfa, 0.1 to 90 degrees, e.g. 2,10,20", .value = "LIST", .stored = if_it_applies, .needs = "vfa"}},
      {"vfa-tr", &T::vfa_repetition_ms, range{0.1, 10000},
       {.text = "repetition time of --vfa", .unit = "ms", .standard = "--tr", .stored = if_it_applies, .needs = "vfa"}},
      {"t1-blood", &T::t1_blood_s, range{0.01, 10},
       {.text = "T1 of blood without contrast agent, for both VOIs", .unit = "s", .standard = "from the map or --vfa",
        .stored = if_it_applies, .needs = "signal=linear|spgr, arterial-voi|portal-voi"}}});
  // clang-format on
}

/// The defaults of standard_settings() for an option, as texts of its cases.
class solver_defaults {
 public:
  template <class Print>
  explicit solver_defaults(const Print& print)
      : simplex_(print(standard_settings(solver_kind::simplex))), others_(print(standard_settings(solver_kind::lm))) {}

  option::default_case simplex() const { return {"solver=simplex|linear", simplex_.c_str()}; }
  option::default_case others() const { return {"", others_.c_str()}; }

 private:
  std::string simplex_, others_;
};

/// Free delays have several minima: from one start 1 to 3 % of noise-free voxels end in another one, from three none
/// did.
constexpr const char* starts_with_free_delays = "3";

option_table<perfusion_request> fit_options() {
  using T = perfusion_request;
  using S = fit_settings;
  const model_info& model = *model_forms().front().model;
  static const solver_defaults starts([](const S& s) { return std::to_string(s.starts); });
  static const solver_defaults bounded([](const S& s) { return s.bounded ? "yes" : "no"; });
  static const solver_defaults iterations([](const S& s) { return std::to_string(s.max_iterations); });
  static const solver_defaults tolerance([](const S& s) { return number_text(s.absolute_tolerance); });
  static const solver_defaults relative([](const S& s) { return number_text(s.relative_tolerance); });
  static const std::string start_text =
      fmt::format("starting point: {}, e.g. {}", list_parameters(model), example_starts(model));
  static const std::string fix_text = "parameters that are not fitted, e.g. " + example_values(model);
  static const std::string bounds_text = "bounds of parameters, e.g. " + example_ranges(model);
  static const std::string maps_text = "maps to write, e.g. " + example_maps(model);
  // clang-format off
  return option_table<T>()
    .group("Fit", {
      {"solver", &T::solver, {{"lm", solver_kind::lm}, {"simplex", solver_kind::simplex},
                              {"varpro", solver_kind::varpro}, {"linear", solver_kind::linear}},
       {.text = "lm: Levenberg & Marquardt; simplex: Nelder & Mead; varpro: variable projection; linear: one linear "
                "least squares", .stored = always, .paper = true}},
      {"convolution", &T::convolution, {{"recursion", convolution_kind::recursion},
                                        {"direct", convolution_kind::direct},
                                        {"block-fft", convolution_kind::block_fft}},
       {.text = "method of convolving the inputs with the tissue's response", .stored = always, .paper = true}},
      {"discretisation", &T::discretisation, {{"exact", discretisation_kind::exact},
                                              {"paper", discretisation_kind::paper}},
       {.text = "exact: the integral of inputs that are linear between frames; paper: sums over frames",
        .defaults = {{"convolution=direct|block-fft", "paper"}, {"", "exact"}}, .stored = always, .paper = true}},
      {"precision", &T::precision, {{"double", precision_kind::float64}, {"float", precision_kind::float32}},
       {.text = "floating-point precision of the fit", .stored = always, .paper = true}},
      {"starts", &T::starts, range{0, 8},
       {.text = "number of starting points from a list of typical parameters, best first; 0: only --start",
        .defaults = {starts.simplex(), {"delays=zero|two-stage", starts.others().value}, {"", starts_with_free_delays}},
        .stored = always, .paper = true}},
      {"start", &T::start, text_kind::any,
       {.text = start_text.c_str(), .value = "LIST", .paper = true}},
      {"fix", &T::fixed, text_kind::any, {.text = fix_text.c_str(), .value = "LIST", .paper = true}},
      {"bounds", &T::bounds, text_kind::any,
       {.text = bounds_text.c_str(), .value = "LIST", .paper = true}},
      {"bounded", &T::bounded, {{"yes", true}, {"no", false}},
       {.text = "whether lm and simplex keep the parameters within their bounds",
        .defaults = {bounded.simplex(), bounded.others()}, .needs = "solver=lm|simplex", .paper = true}},
      {"iterations", &T::iterations, range{1, 100000},
       {.text = "largest number of iterations", .defaults = {iterations.simplex(), iterations.others()},
        .stored = always, .paper = true}},
      {"tolerance", &T::tolerance, range{0, 1e6},
       {.text = "stop when largest and smallest cost differ by less (squared concentration)",
        .defaults = {tolerance.simplex(), tolerance.others()}, .stored = always, .needs = "solver=simplex",
        .paper = true}},
      {"relative-tolerance", &T::relative_tolerance, range{0, 0.1},
       {.text = "simplex: the same relative to the smallest cost; lm, varpro: stop when the predicted relative decrease "
                "of the cost is smaller", .defaults = {relative.simplex(), relative.others()}, .stored = always,
        .paper = true}},
      {"delays", &T::delays, {{"free", delay_choice::free}, {"zero", delay_choice::zero},
                              {"two-stage", delay_choice::two_stage}},
       {.text = "time in which the blood of each input reaches the voxel: fitted in each voxel, zero, or first fitted to the mean curve", .stored = always}},
      {"delay-window", &T::delay_window_s, range{0, 20},
       {.text = "largest difference of a voxel's delays from those of the mean curve; 0: fixed", .unit = "s",
        .stored = if_it_applies, .needs = "delays=two-stage", .paper = true}},
      {"delay-roi", &T::delay_roi, text_kind::file, {.text = "mask of the voxels whose mean curve is fitted first", .standard = "--mask", .needs = "delays=two-stage", .paper = true}},
      {"maps", &T::maps, text_kind::any,
       {.text = maps_text.c_str(), .value = "LIST", .stored = always}}});
  // clang-format on
}

}  // namespace

const option_table<perfusion_request>& perfusion_options() {
  static const option_table<perfusion_request> table =
      input_options()
          .append(signal_options())
          .append(fit_options())
          .include(&perfusion_request::run, run_options())
          .check(
              [](const perfusion_request& r, const given_options& given) { (void)make_perfusion_settings(r, given); });
  return table;
}
}  // namespace voxherd
