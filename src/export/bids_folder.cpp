#include "src/export/bids_folder.hpp"

#include <fmt/core.h>

#include "core/failure.hpp"
#include "src/export/bids_description.hpp"
#include "src/export/bids_label.hpp"
#include "src/export/bids_plans.hpp"

namespace voxherd {

namespace {

void check_label(const char* option, const std::string& label) {
  if (label.empty() || bids_label(label) != label)
    throw failure(exit_status::usage,
                  fmt::format("--{} {}: expected letters and digits as required by BIDS, such as 01", option, label));
}

export_plan plan_derivatives(const result_volumes& result, const bids_place& place) {
  if (result.result().analysis_name() == "tensor") return plan_bids_tensor(result, place);
  if (has_connectome(result.result())) return plan_bids_connectome(result, place);
  if (result.result().analysis_name() == "ballstick") return plan_bids_ballstick(result, place);
  if (result.result().analysis_name() == "perfusion") return plan_bids_perfusion(result, place);
  if (has_fibres(result.result())) return plan_bids_tracts(result, place);
  throw failure(
      exit_status::bad_data,
      fmt::format(
          "{}: --to bids: is a result of {}, expected one of tensor, ballstick or perfusion, or one with fibres or a "
          "connectome; use --to nifti for the maps of any result",
          result.result().path(), result.result().analysis_name()));
}

export_plan plan_bids_folder(const result_volumes& result, bids_place place, const std::string& out) {
  bids_sources sources = find_bids_sources(input_paths(result.result().provenance()), out);
  sources.uris.insert(sources.uris.end(), place.sources.begin(), place.sources.end());
  place.sources = sources.uris;
  export_plan plan = plan_derivatives(result, place);
  for (export_text& text : describe_bids_data_set(sources)) plan.texts.push_back(std::move(text));
  return plan;
}

void run(session& s, const export_settings& settings) {
  if (settings.subject.empty())
    throw failure(exit_status::usage, "--subject is missing: BIDS names begin with it, e.g. --subject 01");
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
    own.folder += result.result().analysis_name() == "perfusion" ? "/perf" : "/dwi";
    return plan_bids_folder(result, own, settings.out);
  });
}

}  // namespace

void export_bids_folder(const session& s, const export_settings& settings, const bids_place& place) {
  export_folder(s, settings,
                [&](const result_volumes& result) { return plan_bids_folder(result, place, settings.out); });
}

extern const export_kind bids_export{
    "bids", "DIR", "BIDS derivatives (BEP016, connectomes BEP017, perfusion by OSIPI's lexicon)", true, run};

}  // namespace voxherd
