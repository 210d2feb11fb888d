#include "src/analyses/perfusion/options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/perfusion/perfusion.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

using namespace perfusion;
using option::refuse;
using option::refuse_given;

void read_frames(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  o.dynamic = r.dynamic;
  if (o.dynamic.empty()) refuse("--dynamic is missing: the dynamic series, NIfTI");
  o.times = r.times;
  if (r.spacing_s) {
    if (!o.times.empty()) refuse_given(given, "spacing", "with --times");
    o.spacing_s = *r.spacing_s;
  } else if (o.times.empty()) {
    refuse("neither --times nor --spacing is given: the times of the frames, in seconds");
  }
  o.mask = r.mask;
  o.skipped = r.skipped;
}

inflow_files read_inflow(const inflow_files& files, const given_options& given, const std::string& name,
                         const std::string& other) {
  if (!files.voi.empty()) refuse_given(given, name + "-curve", fmt::format("with --{}-voi", name));
  if (files.voi.empty() && files.curve.empty())
    refuse(fmt::format("neither --{0}-voi nor --{0}-curve is given, nor --curves: the {0} input{1}", name, other));
  return files;
}

void read_inflows(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  o.model = r.model;
  o.haematocrit = r.haematocrit;
  o.density_g_per_ml = r.density_g_per_ml;
  if (o.model == inflow_model::arterial)
    for (const char* name : {"portal-voi", "portal-curve"}) refuse_given(given, name, "with --model arterial");
  o.curves = r.curves;
  if (!o.curves.empty()) {
    for (const char* name : {"arterial-voi", "portal-voi", "arterial-curve", "portal-curve"})
      refuse_given(given, name, "with --curves");
    return;
  }
  o.arterial = read_inflow({r.arterial_voi, r.arterial_curve}, given, "arterial", "");
  if (o.model == inflow_model::dual)
    o.portal = read_inflow({r.portal_voi, r.portal_curve}, given, "portal", "; or give --model arterial");
}

constexpr double radians = std::numbers::pi / 180;

double require(const std::optional<double>& value, const char* name, const char* what) {
  if (!value) refuse(fmt::format("--{} is missing: {}", name, what));
  return *value;
}

void read_flip_angles(const perfusion_request& r, perfusion_settings& o) {
  conversion& c = o.convert;
  o.vfa = r.vfa;
  if (r.vfa_flip_angles.empty()) refuse("--vfa-flip-angles is missing: those of --vfa in degrees, e.g. 2,10,20");
  const auto degrees = parse_numbers(r.vfa_flip_angles, "vfa-flip-angles");
  if (degrees.size() < 2 || degrees.size() > max_flip_angles)
    refuse(fmt::format("--vfa-flip-angles: {} angles, expected 2 to {}", degrees.size(), max_flip_angles));
  bool differ = false;
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    if (!(degrees[i] >= 0.1 && degrees[i] <= 90))
      refuse(fmt::format("--vfa-flip-angles: {} degrees, expected 0.1 to 90", degrees[i]));
    c.t1_flip_rad[i] = degrees[i] * radians;
    differ = differ || degrees[i] != degrees[0];
  }
  if (!differ) refuse("--vfa-flip-angles: all are equal, expected at least two that differ");
  c.flip_angles = static_cast<int>(degrees.size());
  c.t1 = t1_source::flip_angles;
  if (!r.vfa_repetition_ms && !r.repetition_ms) refuse("--vfa-tr is missing: the repetition time of --vfa in ms");
  c.t1_repetition_s = (r.vfa_repetition_ms ? *r.vfa_repetition_ms : *r.repetition_ms) / 1000;
}

void read_t1(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  const bool has_map = !r.t1_map.empty(), has_vfa = !r.vfa.empty();
  const int sources = r.t1_s.has_value() + has_map + has_vfa;
  if (sources != 1)
    refuse(fmt::format("{} of --t1, --t1-map, --vfa given, expected one: T1 before the agent",
                       sources == 0 ? "none" : std::to_string(sources)));
  if (!has_vfa)
    for (const char* name : {"vfa-flip-angles", "vfa-tr"}) refuse_given(given, name, "without --vfa");
  if (!has_map) refuse_given(given, "t1-map-unit", "without --t1-map");
  if (r.t1_s) o.convert.t1_s = *r.t1_s;
  if (has_map) {
    o.convert.t1 = t1_source::map;
    o.t1_map = r.t1_map;
    o.t1_map_unit_s = r.t1_map_unit_s;
  }
  if (has_vfa) read_flip_angles(r, o);
  const bool has_voi = !o.arterial.voi.empty() || !o.portal.voi.empty();
  if (!has_voi) refuse_given(given, "t1-blood", "without --arterial-voi or --portal-voi");
  if (r.t1_blood_s) o.t1_blood_s = *r.t1_blood_s;
  if (r.t1_s && has_voi && o.t1_blood_s == 0)
    refuse(
        "--t1-blood is missing: --t1 is the tissue's, the VOIs need that of blood (about 1.4 s at 1.5 T, 1.6 s at 3 "
        "T)");
}

void refuse_t1(const given_options& given, const std::string& reason) {
  for (const char* name : {"relaxivity", "t1", "t1-map", "t1-map-unit", "vfa", "vfa-flip-angles", "vfa-tr", "t1-blood"})
    refuse_given(given, name, reason);
}

void read_signal(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  conversion& c = o.convert;
  c.signal = r.signal;
  const std::string with =
      fmt::format("with --signal {}", given.has("signal") ? given.values.at("signal").front() : "concentration");
  if (c.signal == signal_kind::concentration) refuse_given(given, "baseline", with);
  o.baseline = r.baseline;
  o.arterial_S0 = r.arterial_S0;
  if (o.arterial_S0 == arterial_baseline::portal) {
    if (o.arterial.voi.empty() || o.portal.voi.empty()) refuse_given(given, "arterial-baseline", "without both VOIs");
    if (!c.needs_t1()) refuse_given(given, "arterial-baseline", with);
  }
  if (c.signal != signal_kind::spoiled_echo)
    for (const char* name : {"tr", "flip-angle"})
      if (r.vfa.empty() || std::string(name) != "tr") refuse_given(given, name, with);
  if (!c.needs_t1()) return refuse_t1(given, with);
  c.relaxivity_per_mM_s = require(r.relaxivity, "relaxivity", "r1 of the agent in /s/mM");
  if (c.signal == signal_kind::spoiled_echo) {
    c.repetition_s = require(r.repetition_ms, "tr", "the repetition time of the series in ms") / 1000;
    c.flip_rad = require(r.flip_degrees, "flip-angle", "that of the series in degrees") * radians;
  }
  read_t1(r, given, o);
}

/// A parameter's unit on the command line, in 1/s or s.
double unit_of_rule(parameter p, const perfusion_settings& o) { return p <= kp ? o.density_g_per_ml / per_second : 1; }

parameter_rule& rule_of(perfusion_settings& o, parameter p) { return o.fit.rules[static_cast<std::size_t>(p)]; }

void check_flow(const char* option, parameter p, double value) {
  if (p <= kp && value < 0)
    refuse(fmt::format("--{} {}={}: expected 0 or more ml/100 g/min", option, parameter_name(p), value));
  if (p > kp && std::fabs(value) > 600)
    refuse(fmt::format("--{} {}={}: expected -600 to 600 s", option, parameter_name(p), value));
}

void read_kinds(const perfusion_request& r, fit_settings& fit) {
  fit = standard_settings(r.solver);
  fit.rules = fit_settings{}.rules;  // the options decide which delays are fixed
  fit.convolution = r.convolution;
  fit.discretisation =
      fit.convolution != convolution_kind::recursion ? discretisation_kind::paper : discretisation_kind::exact;
  if (r.discretisation) fit.discretisation = *r.discretisation;
  fit.precision = r.precision;
}

void read_stops(const perfusion_request& r, const given_options& given, fit_settings& fit) {
  const bool simplex = fit.solver == solver_kind::simplex, linear = fit.solver == solver_kind::linear;
  if (linear)
    for (const char* name :
         {"convolution", "discretisation", "starts", "start", "iterations", "relative-tolerance", "bounds", "bounded"})
      refuse_given(given, name, "with --solver linear");
  if (!simplex) refuse_given(given, "tolerance", "without --solver simplex; lm and varpro have --relative-tolerance");
  if (fit.solver == solver_kind::varpro) refuse_given(given, "bounded", "with --solver varpro, which has bounds");
  if (r.starts) fit.starts = *r.starts;
  if (r.bounded) fit.bounded = *r.bounded;
  if (r.iterations) fit.max_iterations = *r.iterations;
  if (r.tolerance) fit.absolute_tolerance = *r.tolerance;
  if (r.relative_tolerance) fit.relative_tolerance = *r.relative_tolerance;
}

void read_bounds(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  if (r.bounds.empty()) return;
  if (!o.fit.bounded) refuse_given(given, "bounds", "without bounds; add --bounded yes");
  for (const parameter_value& v : parse_ranges(r.bounds, "bounds")) {
    check_flow("bounds", v.which, v.value);
    check_flow("bounds", v.which, v.other);
    if (v.value >= v.other)
      refuse(fmt::format("--bounds {}={}:{}: expected the smaller value first; --fix fixes a parameter",
                         parameter_name(v.which), v.value, v.other));
    if (v.which == kl && v.value <= 0) refuse(fmt::format("--bounds kl={}:{}: expected more than 0", v.value, v.other));
    parameter_rule& rule = rule_of(o, v.which);
    rule.least = v.value * unit_of_rule(v.which, o);
    rule.most = v.other * unit_of_rule(v.which, o);
    rule.start = std::clamp(rule.start, rule.least, rule.most);
  }
}

void read_starts(const perfusion_request& r, perfusion_settings& o) {
  if (r.start.empty()) return;
  for (const parameter_value& v : parse_values(r.start, "start")) {
    check_flow("start", v.which, v.value);
    parameter_rule& rule = rule_of(o, v.which);
    const double unit = unit_of_rule(v.which, o);
    rule.start = v.value * unit;
    if (o.fit.bounded && (rule.start < rule.least || rule.start > rule.most))
      refuse(fmt::format("--start {}={}: expected {:g} to {:g} {}, its bounds; --bounds widens them",
                         parameter_name(v.which), v.value, rule.least / unit, rule.most / unit, unit_of(v.which)));
  }
}

void fix(perfusion_settings& o, parameter p, double value) {
  parameter_rule& rule = rule_of(o, p);
  rule.start = value;
  rule.fixed = true;
}

void read_fixed(const perfusion_request& r, perfusion_settings& o) {
  if (r.fixed.empty()) return;
  for (const parameter_value& v : parse_values(r.fixed, "fix")) {
    check_flow("fix", v.which, v.value);
    if (v.which == kl && v.value == 0) refuse("--fix kl=0: expected more than 0");
    fix(o, v.which, v.value * unit_of_rule(v.which, o));
  }
}

void read_delays(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  o.delays = r.delays;
  o.delay_window_s = r.delay_window_s;
  o.delay_roi = r.delay_roi;
  const auto fixed = [&](parameter p) { return rule_of(o, p).fixed; };
  if (o.delays == delay_choice::zero) {
    if (!r.fixed.empty() && (fixed(tau_p) || fixed(tau_a)) && o.model == inflow_model::dual)
      refuse("--delays zero and --fix of a delay are both given; leave one out");
    fix(o, tau_a, 0);
    fix(o, tau_p, 0);
  }
  if (o.delays != delay_choice::two_stage)
    for (const char* name : {"delay-window", "delay-roi"}) refuse_given(given, name, "without --delays two-stage");
  if (o.delays == delay_choice::two_stage && fixed(tau_a) && fixed(tau_p))
    refuse("--delays two-stage: both delays are fixed; leave one of the two options out");
  if (o.delays == delay_choice::two_stage && o.delay_window_s > 0 && !o.fit.bounded)
    refuse("--delay-window needs bounds; add --bounded yes");
  const bool found_once = o.delays == delay_choice::two_stage && o.delay_window_s == 0;
  if (o.fit.solver == solver_kind::linear && !found_once && !(fixed(tau_a) && fixed(tau_p)))
    refuse("--solver linear does not fit delays; add --delays zero, --delays two-stage or --fix tau_a=...,tau_p=...");
}

void read_fit(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  read_kinds(r, o.fit);
  read_stops(r, given, o.fit);
  read_bounds(r, given, o);
  read_starts(r, o);
  read_fixed(r, o);
  if (o.model == inflow_model::arterial) {
    fix(o, kp, 0);
    fix(o, tau_p, 0);
  }
  read_delays(r, given, o);
  if (std::all_of(o.fit.rules.begin(), o.fit.rules.end(), [](const parameter_rule& rule) { return rule.fixed; }))
    refuse("--fix: all parameters are fixed, expected at least one that is fitted");
}

template <class Pick>
nlohmann::json values_of(const perfusion_settings& o, Pick pick) {
  nlohmann::json values = nlohmann::json::object();
  for (int i = 0; i < parameter_count; ++i) {
    const auto p = static_cast<parameter>(i);
    const double unit = p <= kp ? per_second / o.density_g_per_ml : 1;
    values[parameter_name(p)] = pick(o.fit.rules[static_cast<std::size_t>(i)], unit);
  }
  return values;
}

void add_parameters(const perfusion_settings& o, nlohmann::json& c) {
  using rule = parameter_rule;
  c["start"] = values_of(o, [](const rule& r, double unit) { return r.start * unit; });
  c["fixed"] = values_of(o, [](const rule& r, double) { return r.fixed; });
  if (!o.fit.bounded) return;
  c["least"] = values_of(o, [](const rule& r, double unit) { return r.least * unit; });
  c["most"] = values_of(o, [](const rule& r, double unit) { return r.most * unit; });
}

frame_range parse_baseline(const std::string& text, const char* option) {
  const auto ends = parse_numbers(text, option);
  if (ends.size() != 2 || ends[0] < 0 || ends[1] < ends[0] || ends[0] != std::floor(ends[0]) ||
      ends[1] != std::floor(ends[1]) || ends[1] > 1e6)
    refuse(fmt::format("--{} {}: expected the first and the last frame, counted from 0, e.g. 0,6", option, text));
  return {static_cast<std::size_t>(ends[0]), static_cast<std::size_t>(ends[1])};
}

bool needs_t1(const perfusion_request& r) {
  return r.signal == signal_kind::linear || r.signal == signal_kind::spoiled_echo;
}
bool is_spoiled_echo(const perfusion_request& r) { return r.signal == signal_kind::spoiled_echo; }
bool has_t1_map(const perfusion_request& r) { return needs_t1(r) && !r.t1_map.empty(); }
bool has_vfa_angles(const perfusion_request& r) { return needs_t1(r) && !r.vfa_flip_angles.empty(); }
bool is_two_stage(const perfusion_request& r) { return r.delays == delay_choice::two_stage; }

option_table<perfusion_request> input_options() {
  using T = perfusion_request;
  // clang-format off
  return option_table<T>()
    .group("Input", {
      {"dynamic", &T::dynamic, text_kind::file,
       {.text = "dynamic series: a 4-D NIfTI image, one image per frame in the order of time, or a .txt that lists them",
        .many = true}},
      {"times", &T::times, text_kind::file, {"times of the frames in s: text, one number per frame"}},
      {"spacing", &T::spacing_s, range{0.01, 3600}, {.text = "time between frames, instead of --times", .unit = "s"}},
      {"mask", &T::mask, text_kind::file, {"voxels to fit: those above 0; without it all"}},
      {"skip-frames", &T::skipped, parse_frames,
       {.text = "frames to leave out of the fit, counted from 0, e.g. 3,41-47", .value = "LIST"}},
      {"arterial-voi", &T::arterial_voi, text_kind::file, {"mask of voxels in the aorta or hepatic artery"}},
      {"portal-voi", &T::portal_voi, text_kind::file, {"mask of voxels in the portal vein"}},
      {"arterial-curve", &T::arterial_curve, text_kind::file,
       {"table of time (s) and concentration, instead of --arterial-voi"}},
      {"portal-curve", &T::portal_curve, text_kind::file,
       {"table of time (s) and concentration, instead of --portal-voi"}},
      {"curves", &T::curves, text_kind::file,
       {"table of time (s), arterial and portal concentration, instead of all four"}}})
    .group("Model", {
      {"model", &T::model, {{"dual", inflow_model::dual}, {"arterial", inflow_model::arterial}},
       {.text = "two inputs, or only the artery", .stored = always}},
      {"haematocrit", &T::haematocrit, range{0, 0.9},
       {.text = "haematocrit X: both inputs are divided by 1 - X; 0: flows of blood instead of plasma", .stored = always}},
      {"density", &T::density_g_per_ml, range{0.5, 2},
       {.text = "density of the tissue, for flows per 100 g", .unit = "g/ml", .stored = always}}});
  // clang-format on
}

option_table<perfusion_request> signal_options() {
  using T = perfusion_request;
  // clang-format off
  return option_table<T>()
    .group("Signal", {
      {"signal", &T::signal, {{"concentration", signal_kind::concentration}, {"linear", signal_kind::linear},
                              {"spgr", signal_kind::spoiled_echo}, {"ct", signal_kind::ct}},
       {.text = "what the series contains; linear: MR, R1 proportional to signal; spgr: spoiled gradient echo; ct: HU",
        .stored = always}},
      {"baseline", &T::baseline, parse_baseline,
       {.text = "first and last frame before the agent, counted from 0, e.g. 0,6", .value = "LIST",
        .standard = "detected"}},
      {"arterial-baseline", &T::arterial_S0, {{"own", arterial_baseline::own}, {"portal", arterial_baseline::portal}},
       {.text = "baseline S0 of the arterial VOI: its own, or the portal one where inflow distorts the aorta's",
        .stored = always}},
      {"relaxivity", &T::relaxivity, range{0.1, 100},
       {.text = "r1 of the agent, for linear and spgr", .unit = "/s/mM", .stored = needs_t1}},
      {"tr", &T::repetition_ms, range{0.1, 10000},
       {.text = "repetition time of the series, for spgr", .unit = "ms", .stored = is_spoiled_echo}},
      {"flip-angle", &T::flip_degrees, range{0.1, 90},
       {.text = "flip angle of the series, for spgr", .unit = "degrees", .stored = is_spoiled_echo}},
      {"t1", &T::t1_s, range{0.01, 10},
       {.text = "T1 of the tissue before the agent, instead of --t1-map or --vfa", .unit = "s", .stored = needs_t1}},
      {"t1-map", &T::t1_map, text_kind::file, {"image of T1 before the agent"}},
      {"t1-map-unit", &T::t1_map_unit_s, {{"s", 1}, {"ms", 0.001}},
       {.text = "unit of --t1-map", .stored = has_t1_map}},
      {"vfa", &T::vfa, text_kind::file,
       {.text = "spoiled gradient echoes at several flip angles: a 4-D image, or one image per angle; T1 is fitted to "
                "them", .many = true}},
      {"vfa-flip-angles", &T::vfa_flip_angles, text_kind::any,
       {.text = "flip angles of --vfa, 0.1 to 90 degrees, e.g. 2,10,20", .value = "LIST", .stored = has_vfa_angles}},
      {"vfa-tr", &T::vfa_repetition_ms, range{0.1, 10000},
       {.text = "repetition time of --vfa", .unit = "ms", .standard = "--tr", .stored = needs_t1}},
      {"t1-blood", &T::t1_blood_s, range{0.01, 10},
       {.text = "T1 of blood before the agent, for both VOIs", .unit = "s", .standard = "from the map or --vfa",
        .stored = needs_t1}}});
  // clang-format on
}

option_table<perfusion_request> fit_options() {
  using T = perfusion_request;
  // clang-format off
  return option_table<T>()
    .group("Fit", {
      {"solver", &T::solver, {{"lm", solver_kind::lm}, {"simplex", solver_kind::simplex},
                              {"varpro", solver_kind::varpro}, {"linear", solver_kind::linear}},
       {.text = "lm: Levenberg & Marquardt; simplex: Nelder & Mead; varpro: variable projection; linear: one linear "
                "least squares", .stored = always}},
      {"convolution", &T::convolution, {{"recursion", convolution_kind::recursion},
                                        {"direct", convolution_kind::direct},
                                        {"block-fft", convolution_kind::block_fft}},
       {.text = "how the model is evaluated", .stored = always}},
      {"discretisation", &T::discretisation, {{"exact", discretisation_kind::exact},
                                              {"paper", discretisation_kind::paper}},
       {.text = "exact: the integral of inputs that are linear between frames; paper: sums over frames",
        .standard = "exact; direct, block-fft: paper", .stored = always}},
      {"precision", &T::precision, {{"double", precision_kind::float64}, {"float", precision_kind::float32}},
       {.text = "floating-point precision of the fit", .stored = always}},
      {"starts", &T::starts, range{0, 8},
       {.text = "number of starting points from the dictionary, best first; 0: only --start",
        .standard = "1; simplex, linear: 0", .stored = always}},
      {"start", &T::start, text_kind::any,
       {.text = "where the fit starts: kl, ka, kp in ml/100 g/min, delays in s, e.g. "
                "kl=200,ka=10,kp=80,tau_a=2,tau_p=3", .value = "LIST"}},
      {"fix", &T::fixed, text_kind::any, {.text = "parameters that are not fitted, e.g. tau_p=0,kp=0", .value = "LIST"}},
      {"bounds", &T::bounds, text_kind::any,
       {.text = "bounds of parameters, e.g. tau_a=0:8,kl=1:2000", .value = "LIST"}},
      {"bounded", &T::bounded, {{"yes", true}, {"no", false}},
       {.text = "whether lm and simplex respect the bounds", .standard = "yes; simplex: no"}},
      {"iterations", &T::iterations, range{1, 100000},
       {.text = "largest number of iterations", .standard = "100; simplex: 600", .stored = always}},
      {"tolerance", &T::tolerance, range{0, 1e6},
       {.text = "simplex: stop when largest and smallest cost differ by less (squared concentration)",
        .standard = "1e-08", .stored = always}},
      {"relative-tolerance", &T::relative_tolerance, range{0, 0.1},
       {.text = "simplex: the same relative to the smallest cost; lm, varpro: stop when the predicted relative decrease "
                "of the cost is smaller", .standard = "1e-05; simplex: 0", .stored = always}},
      {"delays", &T::delays, {{"free", delay_choice::free}, {"zero", delay_choice::zero},
                              {"two-stage", delay_choice::two_stage}},
       {.text = "delays: fitted in each voxel, zero, or first fitted to the mean curve", .stored = always}},
      {"delay-window", &T::delay_window_s, range{0, 20},
       {.text = "two-stage: largest difference of a voxel's delays from those of the mean curve; 0: fixed", .unit = "s",
        .stored = is_two_stage}},
      {"delay-roi", &T::delay_roi, text_kind::file, {.text = "two-stage: mask of the mean curve", .standard = "--mask"}},
      {"maps", &T::maps, text_kind::any,
       {.text = "maps to write, e.g. ka,kp,mean_transit_time", .value = "LIST", .stored = always}}});
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

perfusion_settings make_perfusion_settings(const perfusion_request& r, const given_options& given) {
  perfusion_settings o;
  o.host_memory_bytes = r.run.host_memory_bytes();
  read_frames(r, given, o);
  read_inflows(r, given, o);
  read_signal(r, given, o);
  read_fit(r, given, o);
  o.maps = parse_maps(r.maps);
  return o;
}

void add_configuration(perfusion_request request, const perfusion_settings& o, nlohmann::json& c) {
  request.discretisation = o.fit.discretisation;
  request.starts = o.fit.starts;
  request.iterations = o.fit.max_iterations;
  request.tolerance = o.fit.absolute_tolerance;
  request.relative_tolerance = o.fit.relative_tolerance;
  add_stored(perfusion_options(), request, c);
  c["bounded"] = o.fit.bounded;
  add_parameters(o, c);
}

}  // namespace voxherd
