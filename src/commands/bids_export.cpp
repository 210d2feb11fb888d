#include "src/commands/bids_export.hpp"

#include <fmt/core.h>

#include "core/failure.hpp"
#include "src/export/fibres.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

void check_label(const char* option, const std::string& label) {
  if (label.empty() || bids_label(label) != label)
    refuse_usage("--{} {}: expected letters and digits as required by BIDS, such as 01", option, label);
}

bool has_listed_maps(const analysis_views& views) {
  for (const map_views& m : views.maps)
    if (m.bids_parameter != nullptr) return true;
  return false;
}

/// The maps that the analysis lists with a BIDS name.
export_plan plan_listed_maps(const analysis_views& views, const result_volumes& result, const bids_place& place) {
  model_plan plan(place, views.bids.model != nullptr ? views.bids.model : bids_label(views.analysis),
                  {{"Description", fmt::format("voxherd {}", views.analysis)}});
  for (const map_views& m : views.maps) {
    if (m.bids_parameter == nullptr || !result.has(m.output)) continue;
    const output_spec& o = result.result().output(m.output);
    plan.add_map(result, m.bids_parameter, "", m.output, {{"Description", o.meaning}, {"Units", o.unit}});
  }
  return plan.take();
}

/// "tensor, ballstick or perfusion".
std::string analyses_with_names() {
  std::vector<std::string> names;
  for (const analysis_views* v : all_analysis_views())
    if (v->bids.plan != nullptr || has_listed_maps(*v)) names.emplace_back(v->analysis);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

export_plan plan_derivatives(const result_volumes& result, const bids_place& place) {
  const analysis_views& views = find_views(result.result());
  if (has_connectome(result.result())) return plan_bids_connectome(result, place, views.bids.method);
  if (views.bids.plan != nullptr) return views.bids.plan(result, place);
  if (has_listed_maps(views)) return plan_listed_maps(views, result, place);
  if (has_fibres(result.result())) return plan_bids_tracts(result, place, views.bids.method);
  refuse_data(
      "{}: --to bids: is a result of {}, expected one of {}, or one with paths or a connectome; use --to nifti for the "
      "maps of any result",
      result.result().path(), result.result().analysis_name(), analyses_with_names());
}

export_plan plan_bids_folder(const result_volumes& result, bids_place place, const std::string& out) {
  bids_sources sources = find_bids_sources(input_paths(result.result().provenance()), out);
  sources.uris.insert(sources.uris.end(), place.sources.begin(), place.sources.end());
  place.sources = sources.uris;
  place.program = describe_program(result.result());
  export_plan plan = plan_derivatives(result, place);
  for (export_text& text : describe_bids_data_set(sources)) plan.texts.push_back(std::move(text));
  return plan;
}

void export_bids(session& s, const export_settings& settings) {
  if (settings.subject.empty()) refuse_usage("--subject is missing: BIDS names begin with it, e.g. --subject 01");
  check_label("subject", settings.subject);
  if (!settings.session.empty()) check_label("session", settings.session);
  const std::string session = settings.session.empty() ? "" : "ses-" + settings.session;
  bids_place place{"sub-" + settings.subject, "sub-" + settings.subject, {}, settings.half_positions};
  if (!session.empty()) {
    place.folder += "/" + session;
    place.name += "_" + session;
  }
  export_folder(s, settings, [&](const result_volumes& result) {
    bids_place own = place;
    own.folder += fmt::format("/{}", find_views(result.result()).bids.datatype);
    return plan_bids_folder(result, own, settings.out);
  });
}

}  // namespace

void export_bids_folder(const session& s, const export_settings& settings, const bids_place& place) {
  export_folder(s, settings,
                [&](const result_volumes& result) { return plan_bids_folder(result, place, settings.out); });
}

extern const export_kind bids_export{
    "bids", "DIR", "BIDS derivatives (BEP016, connectomes BEP017, perfusion by OSIPI's lexicon)", true, export_bids};

}  // namespace voxherd
