#include "src/batch/bids/series.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "src/batch/bids/dataset_files.hpp"
#include "src/io/input_file.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

using word_list = std::vector<std::string>;

nlohmann::json read_metadata(const std::string& path) {
  nlohmann::json all = parse_json(read_text_file(path), printable(path));
  if (!all.is_object())
    refuse_data(fmt::format("{}: is not a JSON object, expected a sidecar of BIDS", printable(path)));
  return all;
}

/// The sidecars of an image, the nearest first.
class sidecars {
 public:
  sidecars(const fs::path& root, const named_file& image)
      : paths_(list_inherited(root, fs::path(image.path).parent_path(), image.name, ".json")) {
    for (const std::string& path : paths_) values_.push_back(read_metadata(path));
  }

  /// The nearest sidecar with this field; "" without one.
  std::string find(const std::string& field) const {
    for (std::size_t i = 0; i < paths_.size(); ++i)
      if (values_[i].contains(field)) return paths_[i];
    return "";
  }

  std::optional<double> number(const std::string& field) const {
    for (const nlohmann::json& values : values_)
      if (values.contains(field) && values.at(field).is_number()) return values.at(field).get<double>();
    return std::nullopt;
  }

 private:
  word_list paths_;
  std::vector<nlohmann::json> values_;
};

/// Finds the files of one series, and adds the options that name them.
class dynamic_words {
 public:
  dynamic_words(const series_request& wanted, const word_list& options, const bids_series& series,
                const named_file& image)
      : wanted_(wanted), options_(options), series_(series), image_(image), metadata_(wanted.bids_dir, image) {}

  word_list make() {
    add("--dynamic", image_.path);
    add_times();
    if (!is_given({"--mask"})) add_region("--mask", "mask");
    if (!is_given({"--arterial-voi", "--arterial-curve", "--curves"})) add_region("--arterial-voi", "arterial");
    if (!is_given({"--portal-voi", "--portal-curve", "--curves"}) && !has_words("--model", "arterial"))
      add_region("--portal-voi", "portal");
    if (has_words("--signal", "spgr")) {
      add_number("--tr", metadata_, "RepetitionTimeExcitation", 1000);
      add_number("--flip-angle", metadata_, "FlipAngle", 1);
    }
    if (!is_given({"--t1", "--t1-map", "--vfa"})) add_t1();
    return std::move(words_);
  }

 private:
  bool is_given(const word_list& names) const {
    return std::any_of(options_.begin(), options_.end(), [&](const std::string& word) {
      const std::string name = word.substr(0, word.find('='));
      return std::find(names.begin(), names.end(), name) != names.end();
    });
  }

  bool has_words(const std::string& name, const std::string& value) const {
    for (std::size_t i = 0; i < options_.size(); ++i)
      if (options_[i] == name + "=" + value ||
          (options_[i] == name && i + 1 < options_.size() && options_[i + 1] == value))
        return true;
    return false;
  }

  void add(const std::string& name, const std::string& value) {
    words_.push_back(name);
    words_.push_back(value);
  }

  void add_number(const std::string& name, const sidecars& metadata, const char* field, double factor) {
    const auto value = metadata.number(field);
    if (value && !is_given({name})) add(name, fmt::format("{:.12g}", *value * factor));
  }

  void add_times() {
    if (is_given({"--times", "--spacing"})) return;
    for (const char* field : {"FrameTimesStart", "VolumeTiming", "RepetitionTime"})
      if (const std::string path = metadata_.find(field); !path.empty()) return add("--times", path);
    refuse_data(
        fmt::format("{}: its sidecars (.json) have none of FrameTimesStart, VolumeTiming and RepetitionTime, the "
                    "times of the frames; add one, or give --perfusion-options '--times FILE'",
                    printable(image_.path)));
  }

  void add_region(const std::string& option, const std::string& kind) {
    if (!wanted_.filter.has(kind)) {
      if (kind == "mask") return;  // all voxels
      refuse_data(
          fmt::format("no {0} input; name the entities of its mask in --bids-filter-file, such as {{\"{0}\": "
                      "{{\"label\": \"{0}\"}}}}, or give --perfusion-options '--{0}-curve FILE'",
                      kind));
    }
    add(option, only_one(kind, "mask").path);
  }

  void add_t1() {
    if (wanted_.filter.has("T1map")) return add("--t1-map", only_one("T1map", "T1map").path);
    if (!wanted_.filter.has("VFA")) return;
    std::vector<std::pair<double, named_file>> by_angle;
    for (const named_file& one : candidates("VFA", "VFA")) {
      const auto angle = sidecars(one.root, one).number("FlipAngle");
      if (!angle)
        refuse_data(fmt::format("{}: its sidecars have no FlipAngle, in degrees; add it", printable(one.path)));
      by_angle.emplace_back(*angle, one);
    }
    if (by_angle.empty()) refuse_missing("VFA");
    std::stable_sort(by_angle.begin(), by_angle.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    words_.push_back("--vfa");
    word_list degrees;
    for (const auto& [angle, file] : by_angle) {
      words_.push_back(file.path);
      degrees.push_back(fmt::format("{:.12g}", angle));
    }
    if (!is_given({"--vfa-flip-angles"})) add("--vfa-flip-angles", fmt::format("{}", fmt::join(degrees, ",")));
    const named_file& first = by_angle.front().second;
    add_number("--vfa-tr", sidecars(first.root, first), "RepetitionTimeExcitation", 1000);
  }

  named_file only_one(const std::string& kind, const std::string& suffix) const {
    const std::vector<named_file> all = candidates(kind, suffix);
    if (all.empty()) refuse_missing(kind);
    if (all.size() == 1) return all.front();
    word_list names;
    for (const named_file& one : all) names.push_back(fs::path(one.path).filename().string());
    refuse_data(fmt::format("several files are the {0}: {1}; choose one in --bids-filter-file, by more entities of {0}",
                            kind, fmt::join(names, ", ")));
  }

  [[noreturn]] void refuse_missing(const std::string& kind) const {
    refuse_data(
        fmt::format("no file is the {0} that --bids-filter-file names; correct its entities, or give the data set "
                    "of the file with --derivatives",
                    kind));
  }

  /// Images of the subject that the filter accepts. Entities that the filter does not name must not contradict the
  /// series.
  std::vector<named_file> candidates(const std::string& kind, const std::string& suffix) const {
    word_list free{"desc", "label", "seg", "atlas", "res", "space", "flip"};
    const word_list named = wanted_.filter.entities(kind);
    free.insert(free.end(), named.begin(), named.end());
    for (const auto& [full, entity] : {std::pair("acquisition", "acq"), std::pair("reconstruction", "rec")})
      if (std::find(named.begin(), named.end(), full) != named.end()) free.push_back(entity);
    const bool names_suffix = std::find(named.begin(), named.end(), "suffix") != named.end();
    std::vector<named_file> found;
    word_list roots{wanted_.bids_dir};
    roots.insert(roots.end(), wanted_.derivatives.begin(), wanted_.derivatives.end());
    for (const std::string& root : roots)
      for (const fs::path& folder : datatype_folders(root))
        for (named_file& file : list_bids_files(folder))
          if (is_image(file.name) && (names_suffix || file.name.suffix == suffix) && file.path != image_.path &&
              has_entities(image_.name, file.name, free) &&
              wanted_.filter.accepts(kind, file.name, folder.filename().string())) {
            file.root = root;
            found.push_back(file);
          }
    return found;
  }

  /// sub-X/ses-Y/*; also sub-X/*, which may be common to all sessions.
  std::vector<fs::path> datatype_folders(const fs::path& root) const {
    const fs::path subject = root / ("sub-" + series_.subject);
    std::vector<fs::path> folders = list_folders(subject, "");
    std::erase_if(folders, [](const fs::path& folder) { return folder.filename().string().starts_with("ses-"); });
    if (series_.session.empty()) return folders;
    const std::vector<fs::path> own = list_folders(subject / ("ses-" + series_.session), "");
    folders.insert(folders.begin(), own.begin(), own.end());
    return folders;
  }

  const series_request& wanted_;
  const word_list& options_;
  const bids_series& series_;
  const named_file& image_;
  sidecars metadata_;
  word_list words_;
};

bids_series describe_series(const series_request& wanted, const word_list& options, const named_file& image,
                            const std::string& subject, const std::string& session) {
  bids_series s;
  s.datatype = "perf";
  s.subject = subject;
  s.session = session;
  s.folder = "sub-" + subject + (session.empty() ? "" : "/ses-" + session) + "/perf";
  s.name = image.name.stem({"desc"});
  try {
    s.perfusion_words = dynamic_words(wanted, options, s, image).make();
  } catch (const failure& f) {
    s.problem = f.what();
  }
  return s;
}

/// The series below a folder of a subject or session.
void add_series(const series_request& wanted, const word_list& options, const fs::path& place,
                const std::string& subject, const std::string& session, std::vector<bids_series>& all) {
  for (const fs::path& folder : list_folders(place, "")) {
    if (folder.filename().string().starts_with("ses-")) continue;
    for (const named_file& file : list_bids_files(folder))
      if (is_image(file.name) && wanted.filter.accepts("dynamic", file.name, folder.filename().string()))
        all.push_back(describe_series(wanted, options, file, subject, session));
  }
}

void check_names(std::vector<bids_series>& all) {
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].name == all[i - 1].name)
      refuse_data(
          fmt::format("several images of {} are a dynamic series; choose one in --bids-filter-file, by more entities "
                      "of dynamic, such as suffix",
                      all[i].name));
}

}  // namespace

std::vector<bids_series> find_dynamic_series(const series_request& wanted, const word_list& options) {
  if (!fs::is_directory(wanted.bids_dir))
    throw failure(exit_status::missing_input,
                  fmt::format("{}: no such folder; expected a BIDS data set", printable(wanted.bids_dir)));
  if (!wanted.filter.has("dynamic"))
    throw failure(exit_status::usage,
                  "perfusion: BIDS has no name for dynamic series; name its entities in --bids-filter-file, such as "
                  "{\"dynamic\": {\"suffix\": \"dce\"}, \"mask\": {\"label\": \"liver\"}, \"arterial\": {\"label\": "
                  "\"aorta\"}, \"portal\": {\"label\": \"portalvein\"}}");
  std::vector<bids_series> all;
  for (const fs::path& folder : list_folders(wanted.bids_dir, "sub-")) {
    const std::string subject = folder.filename().string().substr(4);
    if (!is_wanted(wanted.subjects, "sub-", subject)) continue;
    if (wanted.sessions.empty()) add_series(wanted, options, folder, subject, "", all);
    for (const fs::path& place : list_folders(folder, "ses-"))
      if (const std::string session = place.filename().string().substr(4); is_wanted(wanted.sessions, "ses-", session))
        add_series(wanted, options, place, subject, session, all);
  }
  std::sort(all.begin(), all.end(), [](const bids_series& a, const bids_series& b) { return a.name < b.name; });
  check_names(all);
  return all;
}

}  // namespace voxherd
