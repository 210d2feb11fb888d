#include "src/tools/bids/derivatives.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "mpi/result/named_output.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/export/bids_folder.hpp"
#include "src/tools/report/chapters.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// The derivatives that a step was computed from, as URIs.
std::vector<std::string> sources_in_derivatives(const bids_series& series, const bids_step& step) {
  if (step.analysis != "track") return {};
  std::vector<std::string> uris;
  for (const char* parameter : {"polar", "vf"})
    uris.push_back(
        fmt::format("bids::{}/{}_model-bs_param-{}_desc-merged_dwimap.nii.gz", series.folder, series.name, parameter));
  return uris;
}

/// Methods and references without repetition, in the order of the analyses.
class citation {
 public:
  void add(const std::string& result_file) {
    const result_reader result(result_file);
    report::result_draft d(result);
    report::find_chapter(result.analysis_name()).write_methods(d);
    add_once(paragraphs_, d.out.methods);
    for (const report::reference& r : d.out.references)
      add_once(references_, r.text + (r.doi.empty() ? "" : " https://doi.org/" + r.doi));
  }

  std::string text() const {
    std::string text = "# Methods\n";
    for (const std::string& paragraph : paragraphs_) text += "\n" + paragraph + "\n";
    text += "\n# References\n\n";
    for (std::size_t i = 0; i < references_.size(); ++i) text += fmt::format("{}. {}\n", i + 1, references_[i]);
    return text;
  }

  bool is_empty() const { return paragraphs_.empty(); }

 private:
  static void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  }

  std::vector<std::string> paragraphs_, references_;
};

}  // namespace

void write_derivatives(session& s, const bids_request& request, const bids_series& series, const bids_step& step) {
  export_settings settings;
  settings.result = step.run.out;
  settings.out = request.out_dir;
  settings.overwrite = settings.keep_newer = settings.quiet = true;
  settings.threads = export_threads(s, 0);
  const bids_place place{series.folder, series.name, sources_in_derivatives(series, step), request.half_positions};
  export_bids_folder(s, settings, place);
  if (step.fibres.empty()) return;
  settings.result = step.fibres;
  export_bids_folder(s, settings, place);
}

void write_citation(const bids_request& request, const std::vector<bids_series>& all) {
  citation c;
  for (const std::string& analysis : request.analyses) {
    for (const bids_series& series : all)
      if (const std::string file = result_path(request, series, analysis); fs::exists(file)) c.add(file);
  }
  if (c.is_empty()) return;
  const fs::path folder = fs::path(request.out_dir) / "logs";
  fs::create_directories(folder);
  write_output({"logs", (folder / "CITATION.md").string(), true}, c.text());
}

}  // namespace voxherd
