#include <algorithm>
#include <cmath>

#include "core/option_values.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

namespace {

using namespace perfusion;
using option::refuse;
using option::refuse_given;

/// What one of the user's units is in 1/s or s.
double unit_of_rule(parameter p, const perfusion_options& o) { return p <= kp ? o.density_g_per_ml / per_second : 1; }

parameter_rule& rule_of(perfusion_options& o, parameter p) { return o.fit.rules[static_cast<std::size_t>(p)]; }

void check_flow(const char* option, parameter p, double value) {
  if (p <= kp && value < 0)
    refuse(fmt::format("--{} {}={}: expected 0 or more ml/100 g/min", option, name_of(p), value));
  if (p > kp && std::fabs(value) > 600)
    refuse(fmt::format("--{} {}={}: expected -600 to 600 s", option, name_of(p), value));
}

void read_kinds(const arguments& args, fit_settings& fit) {
  const auto solver = option::word<solver_kind>(args, "solver",
                                                {{"lm", solver_kind::lm},
                                                 {"simplex", solver_kind::simplex},
                                                 {"varpro", solver_kind::varpro},
                                                 {"linear", solver_kind::linear}});
  fit = standard_settings(solver);
  fit.rules = fit_settings{}.rules;  // which delays are fixed is for the user to say
  fit.convolution = option::word<convolution_kind>(args, "convolution",
                                                   {{"recursion", convolution_kind::recursion},
                                                    {"direct", convolution_kind::direct},
                                                    {"block-fft", convolution_kind::block_fft}});
  fit.discretisation =
      fit.convolution != convolution_kind::recursion ? discretisation_kind::paper : discretisation_kind::exact;
  if (args.has("discretisation"))
    fit.discretisation = option::word<discretisation_kind>(
        args, "discretisation", {{"exact", discretisation_kind::exact}, {"paper", discretisation_kind::paper}});
  fit.precision = option::word<precision_kind>(
      args, "precision", {{"double", precision_kind::float64}, {"float", precision_kind::float32}});
}

void read_stops(const arguments& args, fit_settings& fit) {
  const bool simplex = fit.solver == solver_kind::simplex, linear = fit.solver == solver_kind::linear;
  if (linear)
    for (const char* name :
         {"convolution", "discretisation", "starts", "start", "iterations", "relative-tolerance", "bounds", "bounded"})
      refuse_given(args, name, "with --solver linear");
  if (!simplex)
    refuse_given(args, "tolerance", "but with --solver simplex; --relative-tolerance is the one of lm and varpro");
  if (fit.solver == solver_kind::varpro) refuse_given(args, "bounded", "with --solver varpro, which has bounds");
  if (args.has("starts")) fit.starts = static_cast<int>(option::integer(args, "starts", 0, 8));
  if (args.has("bounded")) fit.bounded = option::word<bool>(args, "bounded", {{"yes", true}, {"no", false}});
  if (args.has("iterations")) fit.most_iterations = static_cast<int>(option::integer(args, "iterations", 1, 100000));
  if (args.has("tolerance")) fit.absolute_tolerance = option::number(args, "tolerance", 0, 1e6);
  if (args.has("relative-tolerance")) fit.relative_tolerance = option::number(args, "relative-tolerance", 0, 0.1);
}

void read_bounds(const arguments& args, perfusion_options& o) {
  if (!args.has("bounds")) return;
  if (!o.fit.bounded) refuse_given(args, "bounds", "without bounds; add --bounded yes");
  for (const parameter_value& v : parse_ranges(args.get<std::string>("bounds"), "bounds")) {
    check_flow("bounds", v.which, v.value);
    check_flow("bounds", v.which, v.other);
    if (v.value >= v.other)
      refuse(fmt::format("--bounds {}={}:{}: expected the smaller value first; --fix fixes a parameter",
                         name_of(v.which), v.value, v.other));
    if (v.which == kl && v.value <= 0) refuse(fmt::format("--bounds kl={}:{}: expected more than 0", v.value, v.other));
    parameter_rule& rule = rule_of(o, v.which);
    rule.least = v.value * unit_of_rule(v.which, o);
    rule.most = v.other * unit_of_rule(v.which, o);
    rule.start = std::clamp(rule.start, rule.least, rule.most);
  }
}

void read_starts(const arguments& args, perfusion_options& o) {
  if (!args.has("start")) return;
  for (const parameter_value& v : parse_values(args.get<std::string>("start"), "start")) {
    check_flow("start", v.which, v.value);
    parameter_rule& rule = rule_of(o, v.which);
    const double unit = unit_of_rule(v.which, o);
    rule.start = v.value * unit;
    if (o.fit.bounded && (rule.start < rule.least || rule.start > rule.most))
      refuse(fmt::format("--start {}={}: expected {:g} to {:g} {}, its bounds; --bounds widens them", name_of(v.which),
                         v.value, rule.least / unit, rule.most / unit, perfusion::unit_of(v.which)));
  }
}

void fix(perfusion_options& o, parameter p, double value) {
  parameter_rule& rule = rule_of(o, p);
  rule.start = value;
  rule.fixed = true;
}

void read_fixed(const arguments& args, perfusion_options& o) {
  if (!args.has("fix")) return;
  for (const parameter_value& v : parse_values(args.get<std::string>("fix"), "fix")) {
    check_flow("fix", v.which, v.value);
    if (v.which == kl && v.value == 0) refuse("--fix kl=0: expected more than 0");
    fix(o, v.which, v.value * unit_of_rule(v.which, o));
  }
}

void read_delays(const arguments& args, perfusion_options& o) {
  o.delays = option::word<delay_choice>(
      args, "delays",
      {{"free", delay_choice::free}, {"zero", delay_choice::zero}, {"two-stage", delay_choice::two_stage}});
  o.delay_window_s = option::number(args, "delay-window", 0, 20);
  if (args.has("delay-roi")) o.delay_roi = args.get<std::string>("delay-roi");
  const auto fixed = [&](parameter p) { return rule_of(o, p).fixed; };
  if (o.delays == delay_choice::zero) {
    if (args.has("fix") && (fixed(tau_p) || fixed(tau_a)) && o.model == inflow_model::dual)
      refuse("--delays zero and --fix of a delay are both given; leave one out");
    fix(o, tau_a, 0);
    fix(o, tau_p, 0);
  }
  if (o.delays != delay_choice::two_stage)
    for (const char* name : {"delay-window", "delay-roi"}) refuse_given(args, name, "without --delays two-stage");
  if (o.delays == delay_choice::two_stage && fixed(tau_a) && fixed(tau_p))
    refuse("--delays two-stage: both delays are fixed; leave one of the two options out");
  if (o.delays == delay_choice::two_stage && o.delay_window_s > 0 && !o.fit.bounded)
    refuse("--delay-window needs bounds; add --bounded yes");
  const bool found_once = o.delays == delay_choice::two_stage && o.delay_window_s == 0;
  if (o.fit.solver == solver_kind::linear && !found_once && !(fixed(tau_a) && fixed(tau_p)))
    refuse("--solver linear takes delays as given; add --delays zero, --delays two-stage or --fix tau_a=...,tau_p=...");
}

}  // namespace

void read_fit_options(const arguments& args, perfusion_options& o) {
  read_kinds(args, o.fit);
  read_stops(args, o.fit);
  read_bounds(args, o);
  read_starts(args, o);
  read_fixed(args, o);
  if (o.model == inflow_model::arterial) {
    fix(o, kp, 0);
    fix(o, tau_p, 0);
  }
  read_delays(args, o);
  if (std::all_of(o.fit.rules.begin(), o.fit.rules.end(), [](const parameter_rule& r) { return r.fixed; }))
    refuse("--fix: all parameters are fixed, expected at least one that is fitted");
}

}  // namespace voxherd
