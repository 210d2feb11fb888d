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
  o.form = &model_forms()[static_cast<std::size_t>(r.model)];
  o.haematocrit = r.haematocrit;
  o.density_g_per_ml = r.density_g_per_ml;
  o.curves = r.curves;
  o.arterial = {r.arterial_voi, r.arterial_curve, r.arterial_labels};
  o.portal = {r.portal_voi, r.portal_curve, r.portal_labels};
  o.regions = r.regions;
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
  if (c.signal == signal_kind::spoiled_echo) check_repetition("tr", *r.repetition_ms);
  c = make_conversion(r);
  read_t1(r, o);
}

const parameter& parameter_at(const perfusion_settings& o, std::size_t i) { return o.fit.model->parameters[i]; }

void check_value(const char* option, const parameter& p, double value) {
  const bool is_delay = p.role == parameter_role::delay;
  if (!is_delay && value < 0)
    refuse(fmt::format("--{} {}={}: expected 0 or more {}", option, p.name, value, p.unit().spelled));
  if (is_delay && std::fabs(value) > 600)
    refuse(fmt::format("--{} {}={}: expected -600 to 600 s", option, p.name, value));
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
  for (const parameter_value& v : parse_ranges(r.bounds, "bounds", *o.fit.model)) {
    const parameter& p = parameter_at(o, v.which);
    check_value("bounds", p, v.value);
    check_value("bounds", p, v.other);
    if (v.value >= v.other)
      refuse(fmt::format("--bounds {}={}:{}: expected the smaller value first; --fix fixes a parameter", p.name,
                         v.value, v.other));
    if (p.low > 0 && v.value <= 0)
      refuse(fmt::format("--bounds {}={}:{}: expected more than 0", p.name, v.value, v.other));
    parameter_rule& rule = o.fit.rules[v.which];
    rule.least = v.value * kernel_unit(p, o.density_g_per_ml);
    rule.most = v.other * kernel_unit(p, o.density_g_per_ml);
    rule.start = std::clamp(rule.start, rule.least, rule.most);
  }
}

void read_starts(const perfusion_request& r, perfusion_settings& o) {
  if (r.start.empty()) return;
  for (const parameter_value& v : parse_values(r.start, "start", *o.fit.model)) {
    const parameter& p = parameter_at(o, v.which);
    check_value("start", p, v.value);
    parameter_rule& rule = o.fit.rules[v.which];
    const double unit = kernel_unit(p, o.density_g_per_ml);
    rule.start = v.value * unit;
    if (o.fit.bounded && (rule.start < rule.least || rule.start > rule.most))
      refuse(fmt::format("--start {}={}: expected {:g} to {:g} {}, its bounds; --bounds widens them", p.name, v.value,
                         rule.least / unit, rule.most / unit, p.unit().name));
  }
}

void fix(parameter_rule& rule, double value) {
  rule.start = value;
  rule.fixed = true;
}

void read_fixed(const perfusion_request& r, perfusion_settings& o) {
  if (r.fixed.empty()) return;
  for (const parameter_value& v : parse_values(r.fixed, "fix", *o.fit.model)) {
    const parameter& p = parameter_at(o, v.which);
    check_value("fix", p, v.value);
    if (p.low > 0 && v.value == 0) refuse(fmt::format("--fix {}=0: expected more than 0", p.name));
    fix(o.fit.rules[v.which], v.value * kernel_unit(p, o.density_g_per_ml));
  }
}

/// The rules of the model's delays.
std::vector<parameter_rule*> delay_rules(perfusion_settings& o) {
  std::vector<parameter_rule*> rules;
  for (std::size_t i = 0; i < o.fit.rules.size(); ++i)
    if (o.fit.model->is_delay(i)) rules.push_back(&o.fit.rules[i]);
  return rules;
}

/// "NAME=...,NAME=..." of the delays.
std::string delays_to_give(const model_info& model) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    if (model.is_delay(i)) parts.push_back(fmt::format("{}=...", model.parameters[i].name));
  return fmt::format("{}", fmt::join(parts, ","));
}

void read_delays(const perfusion_request& r, perfusion_settings& o) {
  o.delays = r.delays;
  o.delay_window_s = r.delay_window_s;
  o.delay_roi = r.delay_roi;
  const std::vector<parameter_rule*> delays = delay_rules(o);
  const auto is_fixed = [](const parameter_rule* rule) { return rule->fixed; };
  if (o.delays == delay_choice::zero) {
    if (!r.fixed.empty() && std::any_of(delays.begin(), delays.end(), is_fixed) &&
        o.form->inputs == o.fit.model->inputs)
      refuse("--delays zero and --fix of a delay are both given; leave one out");
    for (parameter_rule* rule : delays) fix(*rule, 0);
  }
  const bool all_fixed = std::all_of(delays.begin(), delays.end(), is_fixed);
  if (o.delays == delay_choice::two_stage && all_fixed)
    refuse("--delays two-stage: all delays are fixed; leave one of the two options out");
  if (o.delays == delay_choice::two_stage && o.delay_window_s > 0 && !o.fit.bounded)
    refuse("--delay-window needs bounds; add --bounded yes");
  const bool found_once = o.delays == delay_choice::two_stage && o.delay_window_s == 0;
  if (o.fit.solver == solver_kind::linear && !found_once && !all_fixed)
    refuse("--solver linear does not fit delays; add --delays zero, --delays two-stage or --fix " +
           delays_to_give(*o.fit.model));
}

void read_fit(const perfusion_request& r, const given_options& given, perfusion_settings& o) {
  o.fit = fit_settings(*o.form->model);
  read_solver(r, given, o.fit);
  read_bounds(r, given, o);
  read_starts(r, o);
  read_fixed(r, o);
  for (std::size_t i = 0; i < o.fit.rules.size(); ++i)
    if (o.form->lacks(parameter_at(o, i))) fix(o.fit.rules[i], 0);
  read_delays(r, o);
  if (std::all_of(o.fit.rules.begin(), o.fit.rules.end(), [](const parameter_rule& rule) { return rule.fixed; }))
    refuse("--fix: all parameters are fixed, expected at least one that is fitted");
}

template <class Pick>
nlohmann::json values_of(const perfusion_settings& o, Pick pick) {
  nlohmann::json values = nlohmann::json::object();
  for (std::size_t i = 0; i < o.fit.rules.size(); ++i) {
    const parameter& p = parameter_at(o, i);
    values[p.name] = pick(o.fit.rules[i], map_unit(p, o.density_g_per_ml));
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

conversion make_conversion(const perfusion_request& r) {
  conversion c;
  c.signal = r.signal.value_or(signal_kind::concentration);
  if (!c.needs_t1()) return c;
  c.relaxivity_per_mM_s = r.relaxivity.value_or(0);
  c.t1_s = r.t1_s.value_or(0);
  if (c.signal != signal_kind::spoiled_echo) return c;
  c.repetition_s = r.repetition_ms.value_or(0) / 1000;
  c.flip_rad = r.flip_degrees.value_or(0) * radians;
  return c;
}

perfusion_settings make_perfusion_settings(const perfusion_request& request, const given_options& given) {
  const perfusion_request r = perfusion_options().complete(request);
  perfusion_settings o;
  o.host_memory_bytes = r.run.host_memory_bytes();
  read_frames(r, o);
  read_inflows(r, o);
  read_signal(r, given, o);
  read_fit(r, given, o);
  o.maps = parse_maps(r.maps, *o.fit.model);
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
