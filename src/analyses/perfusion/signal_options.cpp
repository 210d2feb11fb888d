#include <cmath>
#include <numbers>

#include "core/option_values.hpp"
#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

namespace {

using option::refuse;
using option::refuse_given;
using perfusion::conversion;
using perfusion::signal_kind;
using perfusion::t1_source;

constexpr double radians = std::numbers::pi / 180;

double needed(const arguments& args, const char* name, double least, double most, const char* what) {
  if (!args.has(name)) refuse(fmt::format("--{} is missing: {}", name, what));
  return option::number(args, name, least, most);
}

void read_flip_angles(const arguments& args, perfusion_options& o) {
  conversion& c = o.convert;
  o.vfa = args.get<std::vector<std::string>>("vfa");
  if (!args.has("vfa-flip-angles")) refuse("--vfa-flip-angles is missing: those of --vfa in degrees, as 2,10,20");
  const auto degrees = perfusion::parse_numbers(args.get<std::string>("vfa-flip-angles"), "vfa-flip-angles");
  if (degrees.size() < 2 || degrees.size() > perfusion::max_flip_angles)
    refuse(fmt::format("--vfa-flip-angles: {} angles, expected 2 to {}", degrees.size(), perfusion::max_flip_angles));
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
  if (!args.has("vfa-tr") && !args.has("tr")) refuse("--vfa-tr is missing: the repetition time of --vfa in ms");
  c.t1_repetition_s = option::number(args, args.has("vfa-tr") ? "vfa-tr" : "tr", 0.1, 10000) / 1000;
}

void read_t1(const arguments& args, perfusion_options& o) {
  const int sources = args.has("t1") + args.has("t1-map") + args.has("vfa");
  if (sources != 1)
    refuse(fmt::format("{} of --t1, --t1-map, --vfa given, expected one: T1 before the agent",
                       sources == 0 ? "none" : std::to_string(sources)));
  if (!args.has("vfa"))
    for (const char* name : {"vfa-flip-angles", "vfa-tr"}) refuse_given(args, name, "without --vfa");
  if (!args.has("t1-map")) refuse_given(args, "t1-map-unit", "without --t1-map");
  if (args.has("t1")) o.convert.t1_s = option::number(args, "t1", 0.01, 10);
  if (args.has("t1-map")) {
    o.convert.t1 = t1_source::map;
    o.t1_map = args.get<std::string>("t1-map");
    o.t1_map_unit_s = option::word<double>(args, "t1-map-unit", {{"s", 1}, {"ms", 0.001}});
  }
  if (args.has("vfa")) read_flip_angles(args, o);
  const bool has_voi = !o.arterial.voi.empty() || !o.portal.voi.empty();
  if (!has_voi) refuse_given(args, "t1-blood", "without --arterial-voi or --portal-voi");
  if (args.has("t1-blood")) o.t1_blood_s = option::number(args, "t1-blood", 0.01, 10);
  if (args.has("t1") && has_voi && o.t1_blood_s == 0)
    refuse(
        "--t1-blood is missing: --t1 is the tissue's, the VOIs need that of blood (about 1.4 s at 1.5 T, 1.6 s at 3 "
        "T)");
}

void refuse_t1(const arguments& args, const char* reason) {
  for (const char* name : {"relaxivity", "t1", "t1-map", "t1-map-unit", "vfa", "vfa-flip-angles", "vfa-tr", "t1-blood"})
    refuse_given(args, name, reason);
}

}  // namespace

void read_signal_options(const arguments& args, perfusion_options& o) {
  conversion& c = o.convert;
  c.signal = option::word<signal_kind>(args, "signal",
                                       {{"concentration", signal_kind::concentration},
                                        {"linear", signal_kind::linear},
                                        {"spgr", signal_kind::spoiled_echo},
                                        {"ct", signal_kind::ct}});
  const std::string with = "with --signal " + args.get<std::string>("signal");
  if (c.signal == signal_kind::concentration) refuse_given(args, "baseline", with.c_str());
  if (args.has("baseline")) {
    const auto ends = perfusion::parse_numbers(args.get<std::string>("baseline"), "baseline");
    if (ends.size() != 2 || ends[0] < 0 || ends[1] < ends[0] || ends[0] != std::floor(ends[0]) ||
        ends[1] != std::floor(ends[1]) || ends[1] > 1e6)
      refuse(fmt::format("--baseline {}: expected the first and the last frame, counted from 0, as 0,6",
                         args.get<std::string>("baseline")));
    o.baseline = perfusion::frame_range{static_cast<std::size_t>(ends[0]), static_cast<std::size_t>(ends[1])};
  }
  o.arterial_S0 = option::word<arterial_baseline>(
      args, "arterial-baseline", {{"own", arterial_baseline::own}, {"portal", arterial_baseline::portal}});
  if (o.arterial_S0 == arterial_baseline::portal) {
    if (o.arterial.voi.empty() || o.portal.voi.empty()) refuse_given(args, "arterial-baseline", "without both VOIs");
    if (!c.needs_t1()) refuse_given(args, "arterial-baseline", with.c_str());
  }
  if (c.signal != signal_kind::spoiled_echo)
    for (const char* name : {"tr", "flip-angle"})
      if (!(args.has("vfa") && std::string(name) == "tr")) refuse_given(args, name, with.c_str());
  if (!c.needs_t1()) return refuse_t1(args, with.c_str());
  c.relaxivity_per_mM_s = needed(args, "relaxivity", 0.1, 100, "r1 of the agent in /s/mM");
  if (c.signal == signal_kind::spoiled_echo) {
    c.repetition_s = needed(args, "tr", 0.1, 10000, "the repetition time of the series in ms") / 1000;
    c.flip_rad = needed(args, "flip-angle", 0.1, 90, "that of the series in degrees") * radians;
  }
  read_t1(args, o);
}

}  // namespace voxherd
