#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "src/analyses/perfusion/model_forms.hpp"
#include "src/analyses/perfusion/options.hpp"
#include "src/analyses/perfusion/views.hpp"
#include "src/analyses/perfusion/voxel_curves.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

using namespace perfusion;
using nlohmann::json;

constexpr auto lexicon_url = "https://osipi.github.io/OSIPI_CAPLEX/quantities/";

/// A quantity of OSIPI's lexicon (CAPLEX, Dickie 2024), with the unit that it has there.
struct lexicon_entry {
  const char *label, *name, *code, *unit;
};
/// Names of what parameters and derived outputs measure. The lexicon has the code .999 for quantities that it does not
/// list.
lexicon_entry find_entry(quantity what, int input, bool is_plasma) {
  switch (what) {
    case quantity::flow:
      if (is_plasma) return {"Fp", "Blood plasma flow", "Q.PH1.002", "mL/min/100mL"};
      return {"Fb", "Blood flow", "Q.PH1.003", "mL/min/100mL"};
    case quantity::exchange_rate:
      return {"k", "Indicator exchange rate", "Q.PH1.009", "1/s"};
    case quantity::delay:
      if (input == 0) return {"Ta", "Arterial delay time", "Q.PH1.007", "s"};
      return {"Tp", "Portal delay time", "Q.PH1.999", "s"};
    case quantity::volume_fraction:
      return {"v", "Relative volume fraction", "Q.PH1.001", "mL/100mL"};
    case quantity::transit_time:
      return {"MTT", "Mean transit time", "Q.PH1.006", "s"};
    case quantity::flow_fraction:
      break;
  }
  return {"fa", "Arterial fraction of the flow", "Q.PH1.999", "1"};
}
constexpr lexicon_entry native_rate{"R10", "Native longitudinal relaxation rate", "Q.EL1.002", "1/s"};
constexpr lexicon_entry baseline_signal{"SBL", "Baseline signal", "Q.MS1.002", "a.u."};

/// From the unit of outputs, per 100 g, to the lexicon's, per 100 ml.
double lexicon_factor(quantity what, double density_g_per_ml) {
  switch (what) {
    case quantity::flow:
      return density_g_per_ml;
    case quantity::exchange_rate:
      return density_g_per_ml / per_second;
    case quantity::volume_fraction:
      return 100;
    default:
      return 1;
  }
}

/// A map of the result under the lexicon's name.
struct named_map {
  std::string map;
  lexicon_entry what;
  std::string desc;
  double factor = 1;  ///< to the lexicon's unit
};

std::vector<named_map> list_maps(const json& configuration) {
  const bool is_plasma = configuration.value("haematocrit", 0.0) > 0;
  const double density = configuration.value("density", 1.0);
  const model_info& model = *stored_form(configuration).model;
  std::vector<named_map> maps;
  for (const std::size_t i : shown_order(model)) {
    const parameter& p = model.parameters[i];
    const lexicon_entry entry = find_entry(p.what, p.input, is_plasma);
    const double factor = lexicon_factor(p.what, density);
    const std::string label = p.label;
    maps.push_back({p.name, entry, label, factor});
    maps.push_back({model.outputs[model.first_sd + i].name, entry, label.empty() ? "std" : label + "Std", factor});
  }
  for (const derived_value& d : model.derived)
    maps.push_back({d.name, find_entry(d.what, 0, is_plasma), d.label, lexicon_factor(d.what, density)});
  maps.push_back({"baseline_signal", baseline_signal, ""});
  return maps;
}

bids_json describe_quantity(const lexicon_entry& q, const std::string& meaning) {
  return {{"Description", meaning},
          {"Quantity", q.name},
          {"QuantityCode", q.code},
          {"QuantityURL", lexicon_url},
          {"Units", q.unit}};
}

bids_json describe_perfusion_model(const json& c) {
  const model_form& form = stored_form(c);
  const model_texts& texts = *form.model->texts;
  bids_json m;
  m["Description"] = fmt::format("{} with {} ({} {})", texts.kind, form.supply, texts.author, texts.year);
  m["Parameters"] = {{"Haematocrit", c.value("haematocrit", 0.0)},
                     {"Density", c.value("density", 1.0)},
                     {"Solver", c.value("solver", std::string("lm"))},
                     {"Delays", c.value("delays", std::string("free"))}};
  return m;
}

/// The map, each value changed.
template <class Change>
export_image changed_map(const result_volumes& result, const std::string& map, const lexicon_entry& q,
                         const std::string& meaning, const Change& change) {
  return {"",
          describe_image(result, 1, fmt::format("[{}] {}", q.unit, meaning)),
          {{map, 1}},
          [map, change](const image_source& r, const volume_sink& sink) {
            std::vector<float> values = r.map(map);
            std::transform(values.begin(), values.end(), values.begin(),
                           [&](float value) { return static_cast<float>(change(static_cast<double>(value))); });
            sink(values);
          }};
}

void report_omitted(const result_volumes& result, const std::vector<named_map>& named) {
  std::vector<std::string> omitted;
  for (const output_spec& o : result.result().outputs()) {
    const bool is_named = o.name == "t1_before" ||
                          std::any_of(named.begin(), named.end(), [&](const named_map& m) { return o.name == m.map; });
    if (!is_named && o.layout == output_layout::volume) omitted.push_back(o.name);
  }
  if (!omitted.empty())
    spdlog::info("OSIPI's lexicon has no names for {}: left out; use --to nifti to write them",
                 fmt::join(omitted, ", "));
}

export_plan plan_bids_perfusion(const result_volumes& result, const bids_place& place) {
  const json& c = result.result().configuration();
  const std::vector<named_map> named = list_maps(c);
  model_plan plan(place, stored_form(c).bids_label, describe_perfusion_model(c), "perfmap");
  const auto add = [&](const std::string& map, const lexicon_entry& q, const std::string& desc, auto change) {
    if (!result.has(map)) return;  // not among --maps
    const std::string meaning = map == "t1_before" ? "1 / T1 before the agent" : result.result().output(map).meaning;
    plan.add(q.label, desc, changed_map(result, map, q, meaning, change), describe_quantity(q, meaning));
  };
  for (const named_map& m : named) add(m.map, m.what, m.desc, [m](double value) { return value * m.factor; });
  add("t1_before", native_rate, "", [](double t1_s) { return t1_s > 0 ? 1 / t1_s : 0.0; });
  report_omitted(result, named);
  return plan.take();
}

/// Without the rounding error of a factor.
double in_unit(double value, double factor) { return std::stod(fmt::format("{:.12g}", value * factor)); }

std::optional<double> milliseconds(const bids_image& image, const char* field) {
  const auto seconds = image.number(field);
  return seconds ? std::optional(in_unit(*seconds, 1000)) : std::nullopt;
}

std::string find_times(const bids_image& series) {
  for (const char* field : {"FrameTimesStart", "VolumeTiming", "RepetitionTime"})
    if (const std::string file = series.find_sidecar(field); !file.empty()) return file;
  throw failure(
      exit_status::bad_data,
      fmt::format("{}: its sidecars (.json) have none of FrameTimesStart, VolumeTiming and RepetitionTime, the "
                  "times of the frames; add one, or give --perfusion-options '--times FILE'",
                  series.path));
}

std::string find_voi(const dynamic_inputs& inputs, const char* kind) {
  if (!inputs.has(kind))
    refuse_data(
        "no {0} input; name the entities of its mask in --bids-filter-file, such as {{\"{0}\": "
        "{{\"label\": \"{0}\"}}}}, or give --perfusion-options '--{0}-curve FILE'",
        kind);
  return inputs.image(kind, "mask");
}

/// The time between excitations, in ms, of either field that dcm2niix writes. RepetitionTime is that of volumes if it
/// is longer.
std::optional<double> repetition_ms(const bids_image& image) {
  constexpr double max_s = 0.5;
  if (const auto own = milliseconds(image, "RepetitionTimeExcitation")) return own;
  const auto other = image.number("RepetitionTime");
  return other && *other < max_s ? milliseconds(image, "RepetitionTime") : std::nullopt;
}

/// An image of --vfa with the numbers of its own sidecars.
struct flip_angle_image {
  double degrees, repetition_ms;
  std::string path;
};

flip_angle_image read_flip_angle(const bids_image& image, const std::optional<double>& given_ms) {
  const auto angle = image.number("FlipAngle");
  if (!angle) refuse_data("{}: its sidecars have no FlipAngle, in degrees; add it", image.path);
  const auto ms = given_ms ? given_ms : repetition_ms(image);
  if (!ms)
    throw failure(
        exit_status::bad_data,
        fmt::format("{}: its sidecars have neither RepetitionTimeExcitation nor a RepetitionTime below 0.5 s; "
                    "add one, or give --perfusion-options '--vfa-tr MS'",
                    image.path));
  return {*angle, *ms, image.path};
}

/// Two images: with the same angle, which may be those of two echoes, or with different repetition times, of which
/// perfusion takes only one.
void check_flip_angles(const flip_angle_image& one, const flip_angle_image& other) {
  constexpr double tolerance = 1e-3;  // the relative error of T1 is about as large
  if (one.degrees == other.degrees)
    refuse_data(
        "{} and {} have the same FlipAngle, {:g} degrees; choose one in --bids-filter-file, by "
        "more entities of VFA",
        one.path, other.path, one.degrees);
  if (std::abs(one.repetition_ms - other.repetition_ms) > tolerance * one.repetition_ms)
    refuse_data(
        "{} and {} have repetition times of {:g} and {:g} ms, but T1 is fitted with one for all "
        "flip angles; give a map of T1 (T1map), or leave images out by --bids-filter-file",
        one.path, other.path, one.repetition_ms, other.repetition_ms);
}

/// Spoiled gradient echoes, by increasing flip angle.
void find_flip_angles(const dynamic_inputs& inputs, perfusion_request& r) {
  std::vector<flip_angle_image> all;
  for (const bids_image& one : inputs.images("VFA", "VFA")) all.push_back(read_flip_angle(one, r.vfa_repetition_ms));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.degrees < b.degrees; });
  std::vector<std::string> degrees;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) check_flip_angles(all[i - 1], all[i]);
    r.vfa.push_back(all[i].path);
    degrees.push_back(fmt::format("{:.12g}", all[i].degrees));
  }
  if (r.vfa_flip_angles.empty()) r.vfa_flip_angles = fmt::format("{}", fmt::join(degrees, ","));
  const std::vector<double> used = perfusion::parse_numbers(r.vfa_flip_angles, "vfa-flip-angles");
  if (!std::is_sorted(used.begin(), used.end()))
    throw failure(
        exit_status::usage,
        fmt::format("--vfa-flip-angles {}: the images are taken by increasing FlipAngle of their sidecars; give "
                    "the angles in this order",
                    r.vfa_flip_angles));
  r.vfa_repetition_ms = all.front().repetition_ms;
}

void find_T1(const dynamic_inputs& inputs, perfusion_request& r) {
  const bool has_map = inputs.has("T1map");
  if (!has_map && !inputs.has("VFA")) return;
  if (r.signal != perfusion::signal_kind::spoiled_echo && r.signal != perfusion::signal_kind::linear)
    refuse_usage(
        "--bids-filter-file: T1map and VFA have no meaning without --signal linear or spgr; leave them out, "
        "or give --perfusion-options '--signal spgr'");
  if (has_map)
    r.t1_map = inputs.image("T1map", "T1map");
  else
    find_flip_angles(inputs, r);
}

/// The options of a result that the user has given.
perfusion_request read_given(const given_options& given) {
  json own = json::object();
  for (const auto& [name, values] : given.values) own[name] = values.empty() ? json(true) : json(values.front());
  return perfusion_options().read_stored(own);
}

std::vector<std::string> perfusion_words(const dynamic_inputs& inputs, const given_options& given) {
  const auto is_given = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return given.has(name); });
  };
  const bids_image& series = inputs.series();
  perfusion_request r = read_given(given);
  r.dynamic = {series.path};
  if (!is_given({"times", "spacing"})) r.times = find_times(series);
  if (!is_given({"mask"}) && inputs.has("mask")) r.mask = inputs.image("mask", "mask");
  if (!is_given({"arterial-voi", "arterial-curve", "curves"})) r.arterial_voi = find_voi(inputs, "arterial");
  if (!is_given({"portal-voi", "portal-curve", "curves"}) &&
      model_forms()[static_cast<std::size_t>(r.model)].has_portal_input())
    r.portal_voi = find_voi(inputs, "portal");
  if (r.signal == perfusion::signal_kind::spoiled_echo) {
    if (!r.repetition_ms) r.repetition_ms = repetition_ms(series);
    if (!r.flip_degrees) r.flip_degrees = series.number("FlipAngle");
  }
  if (!is_given({"t1", "t1-map", "vfa"})) find_T1(inputs, r);
  return perfusion_options().words(r);
}

std::vector<std::string> list_shown(const result_reader& r) {
  const shown_outputs outputs(*stored_form(r.configuration()).model);
  std::vector<std::string> names = outputs.fitted;
  names.insert(names.end(), outputs.derived.begin(), outputs.derived.end());
  names.emplace_back("r_squared");
  return names;
}

class perfusion_panel final : public view::voxel_panel {
 public:
  explicit perfusion_panel(const result_reader& r)
      : maps_(r), curves_(r), shown_(list_shown(r)), haematocrit_(r.configuration().value("haematocrit", 0.0)) {}

  json describe(std::uint64_t voxel) override {
    json j{{"unit", curves_.unit()}, {"status", maps_.status_text(voxel)}, {"haematocrit", haematocrit_}};
    if (!maps_.is_fitted(voxel)) return j;
    const perfusion::time_course& frames = curves_.frames();
    const voxel_curve curve = curves_.look_at(voxel);
    j.update({{"time", frames.time_s},
              {"arterial", frames.arterial},
              {"concentration", curve.concentration},
              {"fit", curve.fit},
              {"sum_of_squares", curve.sum_of_squares},
              {"parameters", maps_.describe(voxel)},
              {"shown", shown_}});
    const bool has_portal = std::any_of(frames.portal.begin(), frames.portal.end(), [](double c) { return c != 0; });
    if (has_portal) j["portal"] = frames.portal;
    return j;
  }

 private:
  view::item_maps maps_;
  voxel_curves curves_;
  std::vector<std::string> shown_;  ///< parameters, derived outputs
  double haematocrit_;
};

std::unique_ptr<view::voxel_panel> make_perfusion_panel(const result_reader& r, const report::grid_view&) {
  return std::make_unique<perfusion_panel>(r);
}

/// The first of a table's outputs that is a flow.
template <class Entry>
const char* find_flow(std::span<const Entry> table) {
  for (const Entry& entry : table)
    if (entry.what == quantity::flow) return entry.name;
  return nullptr;
}

/// What the viewer shows in colour: a derived flow, which is the total one, or that of a parameter.
const model_info& coloured_model = *model_forms().front().model;

}  // namespace

extern const analysis_views perfusion_views{
    .analysis = "perfusion",
    .chapter = {report::write_perfusion_chapter, report::write_perfusion_methods},
    .bids = {.datatype = "perf",
             .plan = plan_bids_perfusion,
             .run = {.input = bids_input::dynamic, .dynamic_words = perfusion_words}},
    .viewer = {.voxel_kind = "curves",
               .make_voxel_panel = make_perfusion_panel,
               .overlays = {find_flow(coloured_model.derived), find_flow(coloured_model.parameters)}}};

}  // namespace voxherd
