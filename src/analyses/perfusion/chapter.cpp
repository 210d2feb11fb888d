#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"
#include "src/analyses/perfusion/model_forms.hpp"
#include "src/analyses/perfusion/views.hpp"
#include "src/analyses/perfusion/voxel_curves.hpp"
#include "src/export/region_table.hpp"
#include "src/show/anatomy.hpp"
#include "src/show/chart.hpp"
#include "src/show/common_figures.hpp"
#include "src/show/methods.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

/// Adds a chart of the constants of group "curves" against time, named by their meanings.
void add_curves(result_draft& d, const std::string& title, const std::string& quantity,
                const std::vector<std::string>& names, const std::string& note) {
  const constant* time = d.result.find_constant("curves", "time");
  if (time == nullptr) return;
  line_chart chart{title, with_unit("time", time->unit), "", time->values, {}, {}};
  for (const std::string& name : names) {
    const constant* c = d.result.find_constant("curves", name);
    if (c == nullptr || c->values.size() != time->values.size()) continue;
    chart.y_label = c->unit == "input" ? quantity : with_unit(quantity, c->unit);
    const auto style = name == "tissue" ? series::style::dots : series::style::line;
    chart.lines.push_back({c->meaning, c->values, style});
    d.out.numbers["curves"][name] = c->values;
  }
  if (chart.lines.empty()) return;
  d.out.numbers["curves"]["time"] = time->values;
  std::string skipped;
  if (const constant* counted = d.result.find_constant("curves", "counted");
      counted != nullptr && counted->values.size() == chart.x.size())
    for (const double n : counted->values) chart.shaded.push_back(n == 0 ? 1 : 0);
  if (std::count(chart.shaded.begin(), chart.shaded.end(), 1) > 0) skipped = " Frames on grey are not fitted.";
  d.out.sections.back().figures.push_back(
      {title, draw_lines(chart, title + "."), note + skipped, {line_table(chart)}, false});
}

const perfusion::model_info& fitted_model(const result_reader& r) { return *stored_form(r.configuration()).model; }

void add_bounds(result_draft& d) {
  if (!d.result.has("at_bound")) return;
  const output_spec& o = d.result.output("at_bound");
  if (o.type != element_type::uint8) return;
  const std::vector<float> codes = read_values(d, o);
  std::vector<bar> bars;
  std::uint64_t any = 0;
  for (const perfusion::parameter& p : fitted_model(d.result).parameters) bars.push_back({p.name, 0});
  for (const float code : codes) {
    const auto bits = static_cast<unsigned>(code);
    any += bits != 0 ? 1 : 0;
    for (std::size_t i = 0; i < bars.size(); ++i) bars[i].value += bits >> i & 1;
  }
  d.out.numbers["voxels_at_bound"] = any;
  if (2 * any > codes.size())
    d.warn(fmt::format("{} of {} voxels are at a bound; are times, signal and input curves right?", any, codes.size()));
  d.out.sections.back().figures.push_back(
      {"Voxels at a bound",
       draw_bars(bars, "Number of voxels at a bound of each parameter."),
       fmt::format("{} of {} fitted voxels ended at a bound of some parameter. There the standard deviation of that "
                   "parameter is 0 and those of the others are too small.",
                   any, codes.size()),
       {},
       false});
}

struct example {
  const char* name;
  std::uint64_t voxel;
  float r_squared;
};

/// The voxels whose curves are fitted best, as usual, and worst.
std::vector<example> choose_examples(const result_draft& d) {
  if (!d.result.has("r_squared")) return {};
  const std::vector<float> fits = d.result.read_map("r_squared");
  std::vector<std::uint64_t> order = d.fitted;
  std::erase_if(order, [&](std::uint64_t v) { return !std::isfinite(fits[v]); });
  if (order.empty()) return {};
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return fits[a] > fits[b]; });
  std::vector<example> chosen;
  for (const auto& [name, v] : {std::pair{"best", order.front()}, std::pair{"median", order[order.size() / 2]},
                                std::pair{"worst", order.back()}})
    chosen.push_back({name, v, fits[v]});
  return chosen;
}

std::string place_text(const result_draft& d, std::uint64_t v) {
  const auto& size = d.result.grid().size;
  return fmt::format("{}, {}, {}", v % size[0], v / size[0] % size[1], v / size[0] / size[1]);
}

void add_example_curve(result_draft& d, const example& e, const voxel_curve& curve, const voxel_curves& from) {
  const std::string y_label = from.unit() == "input" ? "concentration" : with_unit("concentration", from.unit());
  line_chart chart{
      fmt::format("Voxel with the {} fit", e.name), with_unit("time", "s"), y_label, from.frames().time_s, {}, {}};
  chart.lines.push_back({"voxel", curve.concentration, series::style::dots});
  if (!curve.fit.empty()) chart.lines.push_back({"fit", curve.fit, series::style::line});
  for (const std::uint8_t n : from.frames().counts) chart.shaded.push_back(n == 0 ? 1 : 0);
  d.out.sections.back().figures.push_back({chart.title,
                                           draw_lines(chart, chart.title + "."),
                                           fmt::format("Voxel {}, R2 {:.3g}. The data are read again from the series.",
                                                       place_text(d, e.voxel), e.r_squared),
                                           {line_table(chart)},
                                           false});
  d.out.numbers["example_curves"][e.name] = {{"voxel", e.voxel},
                                             {"concentration", curve.concentration},
                                             {"fit", curve.fit},
                                             {"sum_of_squares", curve.sum_of_squares}};
}

/// Data and fit of these voxels, if the series still exists.
void add_example_curves(result_draft& d, const std::vector<example>& chosen) {
  std::vector<std::uint64_t> voxels;
  for (const example& e : chosen) voxels.push_back(e.voxel);
  try {
    voxel_curves from(d.result);
    const std::vector<voxel_curve> curves = from.read(voxels);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (!curves[i].concentration.empty()) add_example_curve(d, chosen[i], curves[i], from);
  } catch (const failure& f) {
    d.out.sections.back().paragraphs.push_back(fmt::format("Curves of single voxels are not shown: {}.", f.what()));
  }
}

/// Parameters of these voxels.
void add_examples(result_draft& d) {
  const std::vector<example> chosen = choose_examples(d);
  if (chosen.empty()) return;
  add_example_curves(d, chosen);
  table t{
      "Voxels with the best, the median and the worst fit", {"output", "best", "median", "worst"}, {{"voxel x, y, z"}}};
  for (const example& e : chosen) t.rows.front().push_back(place_text(d, e.voxel));
  for (const output_spec& o : d.result.outputs()) {
    if (o.layout != output_layout::volume || !o.shape.empty() || o.type != element_type::float32) continue;
    const std::vector<float> map = d.result.read_map(o.name);
    t.rows.push_back({with_unit(o.name, o.unit)});
    for (const example& e : chosen) t.rows.back().push_back(number_text(map[e.voxel]));
  }
  d.out.sections.back().tables.push_back(t);
}

perfusion::shown_outputs shown_of(const result_reader& r) { return perfusion::shown_outputs(fitted_model(r)); }

/// "59.5 (40.1 to 83.2)" of the main maps in each of --regions; the numbers have all.
void add_regions(result_draft& d) {
  const std::vector<region_values> values = find_region_values(d.result, d.fitted);
  if (values.empty()) return;
  std::vector<std::string> shown = shown_of(d.result).summary;
  shown.emplace_back("r_squared");
  table t{"Median and quartiles in each region", {"region", "voxels"}, {}};
  nlohmann::json& list = d.out.numbers["regions"] = nlohmann::json::array();
  std::uint64_t fitted = 0;
  for (const region_values& v : values) {
    if (list.empty() || list.back().at("label") != v.label) {
      list.push_back({{"label", v.label}, {"name", v.name}});
      t.rows.push_back({v.name, ""});
      fitted = 0;
    }
    fitted = std::max(fitted, v.voxels);
    t.rows.back()[1] = std::to_string(fitted);
    if (v.voxels > 0)
      list.back()[v.map] = {{"voxels", v.voxels},
                            {"lower_quartile", v.lower_quartile},
                            {"median", v.median},
                            {"upper_quartile", v.upper_quartile}};
    if (std::find(shown.begin(), shown.end(), v.map) == shown.end()) continue;
    if (t.rows.size() == 1) t.header.push_back(with_unit(v.map, v.unit));
    t.rows.back().push_back(v.voxels == 0 ? ""
                                          : fmt::format("{} ({} to {})", number_text(v.median),
                                                        number_text(v.lower_quartile), number_text(v.upper_quartile)));
  }
  d.add_section("Regions").tables.push_back(t);
}

/// "ml/100 g/min, s": the units of a model's parameters, each once.
std::string list_units(const perfusion::model_info& model) {
  std::vector<std::string> units;
  for (const perfusion::parameter& p : model.parameters) {
    const std::string unit = p.unit().spelled;
    if (unit != "1" && std::find(units.begin(), units.end(), unit) == units.end()) units.push_back(unit);
  }
  return fmt::format("{}", fmt::join(units, ", "));
}

/// " Start values and bounds of the parameters (ml/100 g/min, s): NAME 200 (1 to 2000), NAME 0 (fixed)."
std::string describe_parameters(methods_text& m) {
  const nlohmann::json& c = m.result.configuration();
  const auto values = [&](const char* name) {
    m.stated.insert(name);
    return c.value(name, nlohmann::json::object());
  };
  const nlohmann::json starts = values("start"), fixed = values("fixed"), least = values("least"),
                       most = values("most");
  std::string text;
  for (const auto& [name, start] : starts.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, start.get<double>());
    if (fixed.value(name, false)) {
      text += " (fixed)";
    } else if (least.contains(name)) {
      text += fmt::format(" ({} to {})", least.at(name).get<double>(), most.at(name).get<double>());
    }
  }
  if (text.empty()) return text;
  return fmt::format(" Start values and bounds of the parameters ({}): {}.", list_units(fitted_model(m.result)), text);
}

void add_frames(methods_text& m) {
  if (const constant* time = m.result.find_constant("curves", "time"); time != nullptr && !time->values.empty())
    m.data += fmt::format(" The series had {} frames from {:.5g} to {:.5g} s.", time->values.size(),
                          time->values.front(), time->values.back());
  if (m.result.configuration().contains("baseline"))
    m.data += fmt::format(" The first and last frame before the contrast agent were {}.", m.state("baseline"));
}

}  // namespace

void write_perfusion_methods(methods_text& m) {
  const model_form& form = stored_form(m.result.configuration());
  const perfusion::model_texts& texts = *form.model->texts;
  m.stated.insert("model");
  m.text = fmt::format(
      "Perfusion was quantified with a {} with {} ({} et al. {}) fitted to each voxel's curve with {} (solver {}, "
      "delays "
      "{}, haematocrit {}; after Wang & Cao 2012).{}",
      texts.method, form.supply, texts.author, texts.year, writing_program(m.result), m.state("solver", "lm"),
      m.state("delays", "free"), m.state("haematocrit", "0"), describe_parameters(m));
  add_frames(m);
  m.cite(texts.citation, "");
  m.cite("Wang H, Cao Y. GPU-accelerated voxelwise hepatic perfusion quantification. Phys Med Biol 57:5601-5616, 2012.",
         "");
}

void write_perfusion_chapter(result_draft& d) {
  d.add_section("Curves");
  const std::string haematocrit = configured(d.result, "haematocrit", "0");
  const bool is_plasma = haematocrit != "0" && haematocrit != "0.0";
  add_curves(d, "Input curves", is_plasma ? "concentration in plasma" : "concentration", {"arterial", "portal"},
             "The concentrations that enter the tissue" +
                 (is_plasma ? ", in plasma: blood divided by 1 - " + haematocrit : std::string()) +
                 ". Both should start near 0 and agree in the late frames.");
  add_curves(
      d, "Mean tissue curve", "concentration", {"tissue", "tissue_fit"},
      "The mean concentration in the mask and the model fitted to it. Where they differ in shape, the model or an "
      "input is wrong.");
  add_examples(d);
  d.show_anatomy(read_anatomy(d.result));
  d.add_section("Maps");
  const map_look look{.map = colour_map::viridis, .first = 0};
  const perfusion::shown_outputs shown = shown_of(d.result);
  for (const std::string& name : shown.maps) add_map(d, name, look);
  add_map(d, "r_squared", {.map = colour_map::viridis, .first = 0, .last = 1, .note = "1 is a perfect fit."});
  add_regions(d);
  d.add_section("Uncertainty");
  for (const std::string& name : shown.fitted) add_map(d, "sd_" + name, look);
  add_bounds(d);
  add_status_map(d);
  d.add_section("Distributions");
  for (const auto* names : {&shown.summary, &shown.delays})
    for (const std::string& name : *names) add_histogram(d, name);
  add_histogram(d, "r_squared");
}

}  // namespace voxherd::report
