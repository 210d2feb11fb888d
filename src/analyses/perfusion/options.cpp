#include "src/analyses/perfusion/options.hpp"

#include "core/option_values.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/host_memory.hpp"

namespace voxherd {

namespace {

using option::refuse;
using option::refuse_given;
using perfusion::name_of;
using perfusion::parameter;

std::string text_of(const arguments& args, const char* name) {
  return args.has(name) ? args.get<std::string>(name) : std::string();
}

std::vector<std::string> files_of(const arguments& args, const char* name) {
  return args.has(name) ? args.get<std::vector<std::string>>(name) : std::vector<std::string>();
}

void read_frames(const arguments& args, perfusion_options& o) {
  o.dynamic = files_of(args, "dynamic");
  if (o.dynamic.empty()) refuse("--dynamic is missing: the dynamic series, NIfTI");
  o.times = text_of(args, "times");
  if (args.has("spacing")) {
    if (!o.times.empty()) refuse_given(args, "spacing", "with --times");
    o.spacing_s = option::number(args, "spacing", 0.01, 3600);
  } else if (o.times.empty()) {
    refuse("neither --times nor --spacing is given: when the frames were taken, in seconds");
  }
  o.mask = text_of(args, "mask");
  if (args.has("skip-frames")) o.skipped = perfusion::parse_frames(args.get<std::string>("skip-frames"), "skip-frames");
}

inflow_files read_inflow(const arguments& args, const std::string& name, const std::string& other) {
  const inflow_files files{text_of(args, (name + "-voi").c_str()), text_of(args, (name + "-curve").c_str())};
  if (!files.voi.empty() && !files.curve.empty())
    refuse_given(args, (name + "-curve").c_str(), ("with --" + name + "-voi").c_str());
  if (files.voi.empty() && files.curve.empty())
    refuse(fmt::format("neither --{0}-voi nor --{0}-curve is given, nor --curves: the {0} input{1}", name, other));
  return files;
}

void read_inflows(const arguments& args, perfusion_options& o) {
  o.model =
      option::word<inflow_model>(args, "model", {{"dual", inflow_model::dual}, {"arterial", inflow_model::arterial}});
  o.haematocrit = option::number(args, "haematocrit", 0, 0.9);
  o.density_g_per_ml = option::number(args, "density", 0.5, 2);
  if (o.model == inflow_model::arterial)
    for (const char* name : {"portal-voi", "portal-curve"}) refuse_given(args, name, "with --model arterial");
  o.curves = text_of(args, "curves");
  if (!o.curves.empty()) {
    for (const char* name : {"arterial-voi", "portal-voi", "arterial-curve", "portal-curve"})
      refuse_given(args, name, "with --curves");
    return;
  }
  o.arterial = read_inflow(args, "arterial", "");
  if (o.model == inflow_model::dual) o.portal = read_inflow(args, "portal", "; or give --model arterial");
}

template <class Pick>
nlohmann::json values_of(const perfusion_options& o, Pick pick) {
  nlohmann::json values = nlohmann::json::object();
  for (int i = 0; i < perfusion::parameter_count; ++i) {
    const auto p = static_cast<parameter>(i);
    const double unit = p <= perfusion::kp ? perfusion::per_second / o.density_g_per_ml : 1;
    values[name_of(p)] = pick(o.fit.rules[static_cast<std::size_t>(i)], unit);
  }
  return values;
}

void add_parameters(const perfusion_options& o, nlohmann::json& c) {
  using rule = perfusion::parameter_rule;
  c["start"] = values_of(o, [](const rule& r, double unit) { return r.start * unit; });
  c["fixed"] = values_of(o, [](const rule& r, double) { return r.fixed; });
  if (!o.fit.bounded) return;
  c["least"] = values_of(o, [](const rule& r, double unit) { return r.least * unit; });
  c["most"] = values_of(o, [](const rule& r, double unit) { return r.most * unit; });
}

}  // namespace

perfusion_options read_perfusion_options(const arguments& args) {
  perfusion_options o;
  o.host_memory_bytes = host_memory_bytes(args);
  read_frames(args, o);
  read_inflows(args, o);
  read_signal_options(args, o);
  read_fit_options(args, o);
  o.maps = perfusion::parse_maps(args.get<std::string>("maps"));
  return o;
}

void add_to_configuration(const perfusion_options& o, const arguments& args, nlohmann::json& c) {
  for (const char* name : {"signal", "model", "solver", "convolution", "precision", "delays"})
    c[name] = args.get<std::string>(name);
  c["discretisation"] = o.fit.discretisation == perfusion::discretisation_kind::exact ? "exact" : "paper";
  c["starts"] = o.fit.starts;
  c["bounded"] = o.fit.bounded;
  c["iterations"] = o.fit.most_iterations;
  c["tolerance"] = o.fit.absolute_tolerance;
  c["relative-tolerance"] = o.fit.relative_tolerance;
  if (o.delays == delay_choice::two_stage) c["delay-window"] = o.delay_window_s;
  add_parameters(o, c);
  c["maps"] = args.get<std::string>("maps");
  c["haematocrit"] = o.haematocrit;
  c["density"] = o.density_g_per_ml;
  if (o.convert.needs_t1()) {
    c["relaxivity"] = o.convert.relaxivity_per_mM_s;
    for (const char* name : {"t1", "vfa-tr", "t1-blood"})
      if (args.has(name)) c[name] = args.get<double>(name);
    if (args.has("vfa-flip-angles")) c["vfa-flip-angles"] = args.get<std::string>("vfa-flip-angles");
    if (args.has("t1-map")) c["t1-map-unit"] = args.get<std::string>("t1-map-unit");
  }
  if (o.convert.signal == perfusion::signal_kind::spoiled_echo)
    for (const char* name : {"tr", "flip-angle"}) c[name] = args.get<double>(name);
  c["arterial-baseline"] = args.get<std::string>("arterial-baseline");
}

}  // namespace voxherd
