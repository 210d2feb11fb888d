#include "src/show/analysis_views.hpp"

#include <fmt/core.h>

#include "src/show/pictures.hpp"

namespace voxherd {

const analysis_views& find_views(const std::string& analysis) {
  static constexpr analysis_views none{""};
  for (const analysis_views* v : all_analysis_views())
    if (analysis == v->analysis || analysis.starts_with(std::string(v->analysis) + "-")) return *v;
  return none;
}

std::string bids_image::find_sidecar(const std::string& field) const {
  for (const auto& [file, values] : sidecars)
    if (values.contains(field)) return file;
  return "";
}

std::optional<double> bids_image::number(const std::string& field) const {
  for (const auto& [file, values] : sidecars)
    if (values.contains(field) && values.at(field).is_number()) return values.at(field).get<double>();
  return std::nullopt;
}

const analysis_views& find_views(const result_reader& r) { return find_views(r.analysis_name()); }

namespace report {

namespace {

constexpr int max_figures = 12;

bool is_number_per_item(const output_spec& o) { return o.shape.empty() && o.type != element_type::uint8; }

}  // namespace

void write_all_outputs(result_draft& d) {
  int figures = 0;
  d.add_section("Maps");
  for (const output_spec& o : d.result.outputs())
    if (o.layout == output_layout::volume && is_number_per_item(o) && figures++ < max_figures) add_map(d, o.name);
  d.add_section("Distributions");
  figures = 0;
  for (const output_spec& o : d.result.outputs())
    if (o.layout != output_layout::points && is_number_per_item(o) && figures++ < max_figures) add_histogram(d, o.name);
}

namespace {

void write_listed(result_draft& d, const analysis_views& views) {
  d.add_section("Maps");
  for (const map_views& m : views.maps)
    if (m.output != nullptr) add_map(d, m.output, {.first = 0, .note = m.note});
  d.add_section("Distributions");
  for (const map_views& m : views.maps)
    if (m.output != nullptr) add_histogram(d, m.output);
}

}  // namespace

void write_chapter(result_draft& d) {
  const analysis_views& views = find_views(d.result);
  if (views.chapter.write != nullptr) return views.chapter.write(d);
  if (views.maps[0].output != nullptr) return write_listed(d, views);
  write_all_outputs(d);
}

}  // namespace report

}  // namespace voxherd
