#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

namespace {

using namespace perfusion;
using option::refuse;
using option::refuse_given;

void read_frames(const perfusion_request& r, perfusion_settings& o) {
  o.dynamic = r.dynamic;
  o.times = r.times;
  o.spacing_s = r.spacing_s.value_or(0);
  o.mask = r.mask;
  o.skipped = r.skipped;
}

void read_inflows(const perfusion_request& r, perfusion_settings& o) {
  o.model = r.model;
  o.haematocrit = r.haematocrit;
  o.density_g_per_ml = r.density_g_per_ml;
  o.curves = r.curves;
  o.arterial = {r.arterial_voi, r.arterial_curve, r.arterial_labels};
  o.portal = {r.portal_voi, r.portal_curve, r.portal_labels};
  o.regions = r.regions;
  o.region_names = r.region_names;
}

constexpr double radians = std::numbers::pi / 180;

/// Names everything that is missing at once.
void require_signal_options(const perfusion_request& r, bool spoiled_echo) {
  std::vector<std::string> missing;
  if (!r.relaxivity) missing.emplace_back("--relaxivity, r1 of the contrast agent in /s/mM");
  if (spoiled_echo && !r.repetition_ms) missing.emplace_back("--tr, the repetition time of the series in ms");
  if (spoiled_echo && !r.flip_degrees) missing.emplace_back("--flip-angle, that of the series in degrees");
  if (!r.t1_s && r.t1_map.empty() && r.vfa.empty())
    missing.emplace_back("--t1, --t1-map or --vfa, T1 before the agent");
  if (!r.vfa.empty() && r.vfa_flip_angles.empty())
    missing.emplace_back("--vfa-flip-angles, those of --vfa in degrees, e.g. 2,10,20");
  if (!r.vfa.empty() && !r.vfa_repetition_ms && !r.repetition_ms)
    missing.emplace_back("--vfa-tr, the repetition time of --vfa in ms");
  if (!missing.empty())
    refuse(fmt::format("--signal {} also needs {}", spoiled_echo ? "spgr" : "linear", fmt::join(missing, "; ")));
}

/// Spoiled gradient echoes are repeated after 2 to 10 ms in three dimensions, after up to 300 ms in slices.
void check_repetition(const char* option, double ms) {
  constexpr double max_ms = 500;
  if (ms > max_ms)
    refuse(
        fmt::format("--{0} {1:g}: a spoiled gradient echo is repeated after at most {2:g} ms, and --{0} is in ms; for "
                    "{3:g} ms give --{0} {3:g}",
                    option, ms, max_ms, ms / 1000));
}

void read_flip_angles(const perfusion_request& r, perfusion_settings& o) {
  conversion& c = o.convert;
  o.vfa = r.vfa;
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
  const double ms = r.vfa_repetition_ms ? *r.vfa_repetition_ms : *r.repetition_ms;
  check_repetition(r.vfa_repetition_ms ? "vfa-tr" : "tr", ms);
  c.t1_repetition_s = ms / 1000;
}

void read_t1(const perfusion_request& r, perfusion_settings& o) {
  const bool has_map = !r.t1_map.empty(), has_vfa = !r.vfa.empty();
  const int sources = r.t1_s.has_value() + has_map + has_vfa;
  if (sources != 1)
    refuse(fmt::format("{} of --t1, --t1-map, --vfa given, expected one: T1 before the agent", sources));
  if (r.t1_s) o.convert.t1_s = *r.t1_s;
  if (has_map) {
    o.convert.t1 = t1_source::map;
    o.t1_map = r.t1_map;
    o.t1_map_unit_s = r.t1_map_unit_s;
  }
  if (has_vfa) read_flip_angles(r, o);
  const bool has_voi = !o.arterial.voi.empty() || !o.portal.voi.empty();
  if (r.t1_blood_s) o.t1_blood_s = *r.t1_blood_s;
  if (r.t1_s && has_voi && o.t1_blood_s == 0)
    refuse(
        "--t1-blood is missing: --t1 is the tissue's, the VOIs need that of blood (about 1.4 s at 1.5 T, 1.6 s at 3 "
        "T)");
}

void read_signal(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  conversion& c = o.convert;
  c.signal = r.signal.value_or(signal_kind::concentration);
  o.signal_is_assumed = !r.signal;
  const std::string with =
      fmt::format("with --signal {}", given.has("signal") ? given.values.at("signal").front() : "concentration");
  o.baseline = r.baseline;
  o.arterial_S0 = r.arterial_S0;
  if (o.arterial_S0 == arterial_baseline::portal) {
    if (o.arterial.voi.empty() || o.portal.voi.empty()) refuse_given(given, "arterial-baseline", "without both VOIs");
    if (!c.needs_t1()) refuse_given(given, "arterial-baseline", with);
  }
  if (c.signal != signal_kind::spoiled_echo && r.vfa.empty()) refuse_given(given, "tr", with);
  if (!c.needs_t1()) return;
  require_signal_options(r, c.signal == signal_kind::spoiled_echo);
  c.relaxivity_per_mM_s = *r.relaxivity;
  if (c.signal == signal_kind::spoiled_echo) {
    check_repetition("tr", *r.repetition_ms);
    c.repetition_s = *r.repetition_ms / 1000;
    c.flip_rad = *r.flip_degrees * radians;
  }
  read_t1(r, o);
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

/// Reads the solver's options of a complete request.
void read_solver(const perfusion_request& r, const given_options& given, fit_settings& fit) {
  if (r.solver == solver_kind::linear)
    for (const char* name :
         {"convolution", "discretisation", "starts", "start", "iterations", "relative-tolerance", "bounds"})
      refuse_given(given, name, "with --solver linear");
  fit.solver = r.solver;
  fit.convolution = r.convolution;
  fit.discretisation = *r.discretisation;
  fit.precision = r.precision;
  fit.starts = *r.starts;
  fit.bounded = *r.bounded;
  fit.max_iterations = *r.iterations;
  fit.absolute_tolerance = *r.tolerance;
  fit.relative_tolerance = *r.relative_tolerance;
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

void read_delays(const perfusion_request& r, perfusion_settings& o) {
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
  if (o.delays == delay_choice::two_stage && fixed(tau_a) && fixed(tau_p))
    refuse("--delays two-stage: both delays are fixed; leave one of the two options out");
  if (o.delays == delay_choice::two_stage && o.delay_window_s > 0 && !o.fit.bounded)
    refuse("--delay-window needs bounds; add --bounded yes");
  const bool found_once = o.delays == delay_choice::two_stage && o.delay_window_s == 0;
  if (o.fit.solver == solver_kind::linear && !found_once && !(fixed(tau_a) && fixed(tau_p)))
    refuse("--solver linear does not fit delays; add --delays zero, --delays two-stage or --fix tau_a=...,tau_p=...");
}

void read_fit(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  read_solver(r, given, o.fit);
  read_bounds(r, given, o);
  read_starts(r, o);
  read_fixed(r, o);
  if (o.model == inflow_model::arterial) {
    fix(o, kp, 0);
    fix(o, tau_p, 0);
  }
  read_delays(r, o);
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

}  // namespace

perfusion_settings make_perfusion_settings(const perfusion_request& request, const given_options& given) {
  const perfusion_request r = perfusion_options().complete(request);
  perfusion_settings o;
  o.host_memory_bytes = r.run.host_memory_bytes();
  read_frames(r, o);
  read_inflows(r, o);
  read_signal(r, given, o);
  read_fit(r, given, o);
  o.maps = parse_maps(r.maps);
  return o;
}

void add_configuration(perfusion_request request, const perfusion_settings& o, nlohmann::json& c) {
  request.signal = o.convert.signal;
  if (o.convert.signal != signal_kind::spoiled_echo) request.repetition_ms.reset();  // then it is only that of --vfa
  add_stored(perfusion_options(), perfusion_options().complete(request), c);
  c["bounded"] = o.fit.bounded;
  add_parameters(o, c);
}

}  // namespace voxherd
