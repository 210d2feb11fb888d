#include "src/batch/bids/series.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/command_line.hpp"
#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "src/batch/bids/companion_files.hpp"
#include "src/batch/bids/dataset_files.hpp"
#include "src/batch/bids/series_kind.hpp"
#include "src/io/text_file.hpp"
#include "src/show/analysis_views.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

using word_list = std::vector<std::string>;

nlohmann::json read_metadata(const std::string& path) {
  nlohmann::json all = parse_json(read_text_file(path), path);
  if (!all.is_object()) refuse_data("{}: is not a JSON object, expected a sidecar of BIDS", path);
  return all;
}

bids_image read_image(const fs::path& root, const named_file& image) {
  bids_image read{image.path, {}};
  for (const std::string& path : list_sidecars(root, fs::path(image.path).parent_path(), image.name))
    read.sidecars.emplace_back(path, read_metadata(path));
  return read;
}

/// Finds the files of one series.
class series_inputs final : public dynamic_inputs {
 public:
  series_inputs(const series_request& wanted, const bids_series& series, const named_file& image)
      : wanted_(wanted), series_(series), file_(image), image_(read_image(wanted.bids_dir, image)) {}

  const bids_image& series() const override { return image_; }
  bool has(const std::string& kind) const override { return wanted_.filter.has(kind); }

  std::vector<bids_image> images(const std::string& kind, const std::string& suffix) const override {
    const std::vector<placed_file> all = candidates(kind, suffix);
    const int nearest = std::min_element(all.begin(), all.end(), [](const placed_file& a, const placed_file& b) {
                          return a.distance < b.distance;
                        })->distance;
    std::vector<bids_image> found;
    for (const placed_file& one : all)
      if (one.distance == nearest) found.push_back(read_image(one.file.root, one.file));
    return found;
  }

  std::string image(const std::string& kind, const std::string& suffix) const override {
    std::vector<companion_file> files;
    for (const placed_file& one : candidates(kind, suffix))
      files.push_back({one.file.path, one.distance, count_common_entities(file_.name, one.file.name)});
    const std::vector<companion_file> best = prefer_nearest(files);
    if (best.size() == 1) return best.front().path;
    word_list names;
    for (const companion_file& one : best) names.push_back(name_below(one.path));
    refuse_data("several files are the {0}: {1}; choose one in --bids-filter-file, by more entities of {0}", kind,
                fmt::join(names, ", "));
  }

 private:
  struct placed_file {
    named_file file;
    int distance = 0;  ///< see companion_file
  };

  /// Images of the subject that the filter accepts. Entities that the filter does not name must not contradict the
  /// series. The data set itself is nearer than further ones, and the session than its subject.
  std::vector<placed_file> candidates(const std::string& kind, const std::string& suffix) const {
    word_list free{"desc", "label", "seg", "atlas", "res", "space", "flip", "part"};
    const word_list named = wanted_.filter.entities(kind);
    free.insert(free.end(), named.begin(), named.end());
    for (const auto& [full, entity] : {std::pair("acquisition", "acq"), std::pair("reconstruction", "rec")})
      if (std::find(named.begin(), named.end(), full) != named.end()) free.push_back(entity);
    const bool names_suffix = std::find(named.begin(), named.end(), "suffix") != named.end();
    std::vector<placed_file> found;
    word_list roots{wanted_.bids_dir};
    roots.insert(roots.end(), wanted_.derivatives.begin(), wanted_.derivatives.end());
    for (const std::string& root : roots)
      for (const auto& [folder, level] : datatype_folders(root))
        for (named_file& file : list_bids_files(folder))
          if (is_image(file.name) && (names_suffix || file.name.suffix == suffix) && file.path != file_.path &&
              !is_part_of_complex_image(file.name) && has_entities(file_.name, file.name, free) &&
              wanted_.filter.accepts(kind, file.name, folder.filename().string())) {
            file.root = root;
            found.push_back({file, level + (root == wanted_.bids_dir ? 0 : 2)});
          }
    if (found.empty())
      refuse_data(
          "no file is the {} that --bids-filter-file names; correct its entities, or give the data set of the file "
          "with --derivatives",
          kind);
    return found;
  }

  /// The file's name if it tells the file from others, else its path.
  std::string name_below(const std::string& path) const {
    const fs::path own = path;
    return own.parent_path() == fs::path(file_.path).parent_path() ? own.filename().string() : path;
  }

  /// sub-X/ses-Y/* (0); also sub-X/* (1), which may be common to all sessions.
  std::vector<std::pair<fs::path, int>> datatype_folders(const fs::path& root) const {
    const fs::path subject = root / ("sub-" + series_.subject);
    std::vector<std::pair<fs::path, int>> folders;
    if (!series_.session.empty())
      for (const fs::path& folder : list_folders(subject / ("ses-" + series_.session), ""))
        folders.emplace_back(folder, 0);
    for (const fs::path& folder : list_folders(subject, ""))
      if (!folder.filename().string().starts_with("ses-")) folders.emplace_back(folder, 1);
    return folders;
  }

  const series_request& wanted_;
  const bids_series& series_;
  const named_file& file_;
  bids_image image_;
};

/// An analysis of dynamic series and the user's options of it.
struct dynamic_analysis {
  const bids_run& how;
  given_options given;
};

/// None if the image is no series that could be fitted.
std::optional<bids_series> describe_series(const series_request& wanted, const dynamic_analysis& analysis,
                                           named_file image, const std::string& subject, const std::string& session) {
  bids_series s = begin_series(image.name, "perf", subject, session);
  if (!is_wanted_series(wanted, s)) return std::nullopt;
  s.dwi = image.path;
  if (const std::string why = why_no_dynamic_series(wanted.bids_dir, image); !why.empty()) {
    report_left_out(image.path, why);
    return std::nullopt;
  }
  if (!s.problem.empty()) return s;
  try {
    const word_list found = analysis.how.dynamic_words(series_inputs(wanted, s, image), analysis.given);
    s.dynamic_words = without_options(found, [&](const std::string& name) { return analysis.given.has(name); });
  } catch (const failure& f) {
    if (f.status == exit_status::usage) throw;
    s.problem = f.what();
  }
  return s;
}

/// The series below a folder of a subject or session.
void add_series(const series_request& wanted, const dynamic_analysis& analysis, const fs::path& place,
                const std::string& subject, const std::string& session, std::vector<bids_series>& all) {
  for (const fs::path& folder : list_folders(place, "")) {
    if (folder.filename().string().starts_with("ses-")) continue;
    for (const named_file& file : list_bids_files(folder))
      if (is_image(file.name) && wanted.filter.accepts("dynamic", file.name, folder.filename().string()))
        if (auto series = describe_series(wanted, analysis, file, subject, session)) all.push_back(*series);
  }
}

}  // namespace

std::vector<bids_series> find_dynamic_series(const series_request& wanted, const std::string& analysis,
                                             const std::vector<std::string>& options) {
  std::error_code wrong_link;
  if (!fs::is_directory(wanted.bids_dir, wrong_link))
    refuse_missing("{}: no such folder; expected a BIDS data set", wanted.bids_dir);
  if (!wanted.filter.has("dynamic"))
    refuse_usage(analysis +
                 ": BIDS has no name for dynamic series; name its entities in --bids-filter-file, such as "
                 "{\"dynamic\": {\"suffix\": \"dce\"}, \"mask\": {\"label\": \"liver\"}, \"arterial\": {\"label\": "
                 "\"aorta\"}, \"portal\": {\"label\": \"portalvein\"}}");
  const dynamic_analysis computed{find_views(analysis).bids.run,
                                  parse_command_line(find_command(all_commands(), analysis), options)};
  std::vector<bids_series> all;
  for (const fs::path& folder : list_folders(wanted.bids_dir, "sub-")) {
    if (!is_wanted_subject(wanted, folder.filename().string().substr(4))) continue;
    const std::string subject = subject_label(folder);
    if (subject.empty()) continue;
    if (wanted.sessions.empty()) add_series(wanted, computed, folder, subject, "", all);
    for (const fs::path& place : list_folders(folder, "ses-"))
      if (const std::string session = place.filename().string().substr(4); is_wanted(wanted.sessions, "ses-", session))
        add_series(wanted, computed, place, subject, session, all);
  }
  std::stable_sort(all.begin(), all.end(), [](const bids_series& a, const bids_series& b) { return a.name < b.name; });
  return all;
}

}  // namespace voxherd
