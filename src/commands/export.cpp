#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "src/export/export_plan.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

// Formats for results of any analysis; those of one are in its analysis_views.
extern const export_kind bids_export, nifti_export, tck_export, trk_export, trx_export, csv_export;

namespace {

std::vector<const export_kind*> list_kinds() {
  std::vector<const export_kind*> kinds;
  for (const analysis_views* v : all_analysis_views())
    for (const export_kind* kind : v->exports)
      if (kind != nullptr) kinds.push_back(kind);
  kinds.insert(kinds.end(), {&bids_export, &nifti_export, &tck_export, &trk_export, &trx_export, &csv_export});
  return kinds;
}

/// Joins one `part` of every format with `separator`.
template <class Part>
std::string join_kinds(const char* separator, const Part& part) {
  std::string text;
  for (const export_kind* kind : list_kinds()) text += (text.empty() ? "" : separator) + part(*kind);
  return text;
}

struct export_request {
  std::string result, out, kind;
  std::string subject, session;  ///< labels of BIDS names
  std::vector<std::string> statistics_of;
  double tract_threshold = 0.001;
  cifti_request cifti;
  bool half_positions = false;
  bool overwrite = false;
  bool quiet = false;
  int threads = 0;
};

const export_kind& find_kind(const std::string& asked) {
  for (const export_kind* kind : list_kinds())
    if (asked == kind->name) return *kind;
  refuse_usage("--to {}: expected one of {}", asked,
               join_kinds(", ", [](const export_kind& k) { return std::string(k.name); }));
}

void check_request(const export_request& request, const given_options& given) {
  if (request.kind != "trx" && request.kind != "bids")
    option::refuse_given(given, "half-positions", fmt::format("with --to {}", request.kind));
  if (request.kind != "csv") option::refuse_given(given, "statistics-of", fmt::format("with --to {}", request.kind));
  if (request.kind != "csv" && request.cifti.blueprint.empty())
    option::refuse_given(given, "tract-threshold", "without --to csv or --blueprint");
  for (const option_spec& own : cifti_options().specs())
    if (request.kind != "cifti") option::refuse_given(given, own.name, fmt::format("with --to {}", request.kind));
  if (find_kind(request.kind).has_labels) return;
  for (const char* name : {"subject", "session"})
    option::refuse_given(given, name, fmt::format("with --to {}", request.kind));
}

const option_table<export_request>& export_options() {
  using T = export_request;
  const std::string meanings =
      join_kinds("; ", [](const export_kind& k) { return fmt::format("{}: {}", k.name, k.meaning); });
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Input", {{"result", &T::result, text_kind::file, {.text = "result file", .required = true, .place = 1}}})
    .group("Output", {
      {"out", &T::out, text_kind::file,
       {.text = "folder to write, created if it does not exist, or file to write", .value = "PATH", .required = true, .place = 2}},
      {"to", &T::kind, text_kind::any, {.text = meanings.c_str(), .value = "KIND", .required = true}},
      {"subject", &T::subject, text_kind::any, {.text = "bids: letters and digits after sub-", .value = "LABEL"}},
      {"session", &T::session, text_kind::any,
       {.text = "bids: letters and digits after ses-", .value = "LABEL", .standard = "none"}},
      {"statistics-of", &T::statistics_of, text_kind::file,
       {.text = "csv: images (FA, MD, ...) to average in tracts, along paths and between regions, by world coordinates",
        .many = true}},
      {"tract-threshold", &T::tract_threshold, range{0, 1},
       {"csv, --blueprint: smallest density, divided by waytotal, of the voxels of a tract"}},
      {"half-positions", &T::half_positions, {"trx, bids: points of the paths in 16 bits, to 1/32 mm up to 128 mm from the origin"}},
      {"overwrite", &T::overwrite, {"replace existing files"}}})
    .include(&T::cifti, cifti_options())
    .group("Running", {
      {"threads", &T::threads, range{0, 256},
       {"threads per rank that compress images; 0: the cores that this rank may use, at most 32"}},
      {"quiet", &T::quiet, {"print only warnings and errors"}}})
    .check(check_request);
  // clang-format on
  return table;
}

exit_status run_export(session& s, const export_request& request) {
  export_settings settings;
  settings.result = request.result;
  settings.out = request.out;
  settings.overwrite = request.overwrite;
  settings.half_positions = request.half_positions;
  settings.quiet = request.quiet;
  settings.threads = export_threads(s, request.threads);
  settings.subject = request.subject;
  settings.session = request.session;
  settings.statistics_of = request.statistics_of;
  settings.tract_threshold = request.tract_threshold;
  settings.cifti = request.cifti;
  if (settings.quiet && s.is_root()) spdlog::set_level(spdlog::level::warn);
  find_kind(request.kind).run(s, settings);
  return exit_status::complete;
}

}  // namespace

extern const command export_command = run_by_first_rank(
    make_command<export_options, run_export>({"export", "write a result in the formats of other programs",
                                              "voxherd export tensor.h5 --to nifti maps\n"
                                              "voxherd export connections.h5 --to tck connections.tck"}));

}  // namespace voxherd
