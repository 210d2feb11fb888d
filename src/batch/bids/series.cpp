#include "src/batch/bids/series.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/failure.hpp"
#include "src/batch/bids/companion_files.hpp"
#include "src/batch/bids/dataset_files.hpp"
#include "src/batch/bids/parcellation.hpp"
#include "src/batch/bids/series_kind.hpp"
#include "src/export/bids.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/text_file.hpp"
#include "src/scan/gradients.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// Of files that differ only in .nii and .nii.gz, the first.
void drop_copies(std::vector<named_file>& series) {
  const auto end = std::unique(series.begin(), series.end(), [](const named_file& a, const named_file& b) {
    const bool same = a.name.entities == b.name.entities;
    if (same) spdlog::warn("{} and {} are one series; the first is used", a.path, b.path);
    return same;
  });
  series.erase(end, series.end());
}

/// The series of one folder: those whose desc the filter names; else preprocessed ones if there are any, else those
/// without desc.
std::vector<named_file> list_series(const fs::path& folder, const bids_filter& filter) {
  const std::vector<std::string> keys = filter.entities("dwi");
  const bool names_desc = std::find(keys.begin(), keys.end(), "desc") != keys.end();
  std::vector<named_file> raw, preprocessed, others;
  for (const named_file& file : list_bids_files(folder)) {
    if (file.name.suffix != "dwi" || !is_image(file.name) || !filter.accepts("dwi", file.name)) continue;
    const std::string desc = file.name.value("desc");
    (desc == "preproc" || names_desc ? preprocessed : desc.empty() ? raw : others).push_back(file);
  }
  for (const named_file& file : others)
    report_left_out(file.path, fmt::format("has desc-{}: only desc-preproc and data without desc are series, unless "
                                           "--bids-filter-file names another desc",
                                           file.name.value("desc")));
  std::vector<named_file>& chosen = preprocessed.empty() ? raw : preprocessed;
  drop_copies(chosen);
  return chosen;
}

/// Files of the series in the data set and in further ones.
class companions {
 public:
  companions(const series_request& wanted, const bids_series& series, const bids_name& name)
      : wanted_(wanted), series_(series), name_(name) {}

  std::string mask() const { return find("mask", "brain"); }
  /// QSIPrep's map of the gradients.
  std::string grad_dev() const { return find("graddev", ""); }

  void find_parcellation(bids_series& files) const {
    std::vector<segmentation> found;
    for (const segmentation& one :
         candidates("dseg", {"dwi", "anat"}, {"desc", "seg", "atlas", "res", "label", "space"}))
      if (is_in_space(one.image)) found.push_back(one);
    if (found.empty()) {
      files.parcellation_problem =
          fmt::format("no parcellation (_dseg.nii.gz) with {} in dwi/ or anat/; give its data set with --derivatives",
                      name_.value("space").empty() ? "no space- in its name" : "space-" + name_.value("space"));
      return;
    }
    try {
      const parcellation_choice chosen = choose_parcellation(found, wanted_.filter);
      files.parcellation = chosen.image;
      files.region_names = chosen.region_names;
      files.parcellation_problem = chosen.problem;
    } catch (const failure& f) {
      files.parcellation_problem = f.what();
    }
  }

 private:
  /// The image with this suffix and desc in the space of the series, and no other entities.
  std::string find(const std::string& suffix, const std::string& desc) const {
    std::vector<companion_file> files;
    for (const segmentation& one : candidates(suffix, {"dwi"}, {"desc"}))
      if (one.image.name.value("desc") == desc && one.image.name.value("space") == name_.value("space"))
        files.push_back({one.image.path, one.distance, one.entities});
    return choose_companion(files, fmt::format("the _{} of {}", suffix, series_.name));
  }

  /// Images with this suffix and no entities that contradict the series, except those in `own`. The data set itself is
  /// nearer than further ones, and the session than its subject.
  std::vector<segmentation> candidates(const std::string& suffix, const std::vector<std::string>& datatypes,
                                       const std::vector<std::string>& own) const {
    std::vector<segmentation> found;
    std::vector<std::string> roots{wanted_.bids_dir};
    roots.insert(roots.end(), wanted_.derivatives.begin(), wanted_.derivatives.end());
    for (const std::string& root : roots) {
      int distance = root == wanted_.bids_dir ? 0 : static_cast<int>(2 * datatypes.size());
      const std::vector<fs::path> levels = subject_folders(root);
      for (const fs::path& level : levels)
        for (const std::string& datatype : datatypes) {
          for (named_file& file : list_bids_files(level / datatype))
            if (file.name.suffix == suffix && is_image(file.name) && has_entities(name_, file.name, own) &&
                wanted_.filter.accepts(suffix, file.name)) {
              file.is_anatomical = datatype == "anat";
              file.root = root;
              found.push_back({file, distance, count_common_entities(name_, file.name)});
            }
          ++distance;
        }
    }
    return found;
  }

  /// sub-X/ses-Y; also sub-X, which may be common to all sessions.
  std::vector<fs::path> subject_folders(const std::string& root) const {
    const fs::path subject = fs::path(root) / ("sub-" + series_.subject);
    if (series_.session.empty()) return {subject};
    return {subject / ("ses-" + series_.session), subject};
  }

  /// In the space of the series: an anatomical segmentation without space is in that of the T1w image.
  bool is_in_space(const named_file& file) const {
    const std::string own = name_.value("space"), other = file.name.value("space");
    if (own == other) return !own.empty() || !file.is_anatomical;
    return own == "T1w" && other.empty() && file.is_anatomical;
  }

  const series_request& wanted_;
  const bids_series& series_;
  const bids_name& name_;
};

/// Whether QSIPrep wrote the data set, by its description. Older data sets have PipelineDescription.
bool is_of_qsiprep(const fs::path& root) {
  const fs::path file = root / "dataset_description.json";
  if (std::error_code ignored; !fs::exists(file, ignored)) return false;
  const nlohmann::json description = nlohmann::json::parse(read_text_file(file.string()), nullptr, false);
  if (!description.is_object()) return false;
  nlohmann::json programs = description.value("GeneratedBy", nlohmann::json::array());
  if (!programs.is_array()) programs = nlohmann::json::array({programs});
  programs.push_back(description.value("PipelineDescription", nlohmann::json::object()));
  return std::any_of(programs.begin(), programs.end(), [](const nlohmann::json& program) {
    if (!program.is_object() || !program.contains("Name") || !program.at("Name").is_string()) return false;
    std::string name = program.at("Name");
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name.find("qsiprep") != name.npos || name.find("qsirecon") != name.npos;
  });
}

/// The frame of the directions: that in which they agree with MRtrix's table beside them. QSIPrep writes its .bvec
/// along the image axes, which are LPS+, and other programs along FSL's.
void choose_frame(const fs::path& root, const fs::path& folder, const bids_name& name, bids_series& s) {
  if (!s.problem.empty()) return;
  std::string reason;
  if (const std::string table = find_inherited(root, folder, name, ".b"); !table.empty()) {
    const nifti_header image = read_nifti_header(s.dwi);
    s.frame = compare_with_table({s.bval, s.bvec}, table, image.grid, image.volumes);
    reason = "so they agree with " + table;
  } else if (name.value("desc") == "preproc" && is_of_qsiprep(root)) {
    s.frame = direction_frame::image;
    reason = "QSIPrep wrote them, and no .b file is beside them";
  }
  if (s.frame != direction_frame::fsl)
    s.frame_reason = fmt::format("{} has directions along {}: {}", s.bvec, frame_name(s.frame), reason);
}

void find_gradients(const series_request& wanted, const fs::path& folder, const bids_name& name, bids_series& s) {
  s.bval = find_inherited(wanted.bids_dir, folder, name, ".bval");
  s.bvec = find_inherited(wanted.bids_dir, folder, name, ".bvec");
  if (s.bval.empty() || s.bvec.empty())
    s.problem = fmt::format("no {} for {} in its folder or above", s.bval.empty() ? ".bval" : ".bvec", s.dwi);
}

/// None if the image is no series that could be fitted.
std::optional<bids_series> describe_series(const series_request& wanted, const fs::path& folder, named_file file,
                                           const std::string& subject, const std::string& session) {
  bids_series s = begin_series(file.name, "dwi", subject, session);
  if (!is_wanted_series(wanted, s)) return std::nullopt;
  s.dwi = file.path;
  if (!s.problem.empty()) return s;
  try {
    find_gradients(wanted, folder, file.name, s);
    if (const std::string why = why_no_diffusion_series(wanted.bids_dir, file, s.bval, s.bvec); !why.empty()) {
      report_left_out(file.path, why);
      return std::nullopt;
    }
    choose_frame(wanted.bids_dir, folder, file.name, s);
    const companions others(wanted, s, file.name);
    s.mask = others.mask();
    s.grad_dev = others.grad_dev();
    others.find_parcellation(s);
  } catch (const failure& f) {
    s.problem = f.what();
  }
  return s;
}

void add_bids_subject(const series_request& wanted, const fs::path& subject_folder, std::vector<bids_series>& all) {
  const std::string subject = subject_label(subject_folder);
  if (subject.empty()) return;
  const std::size_t before = all.size();
  std::vector<fs::path> places;
  if (wanted.sessions.empty()) places.push_back(subject_folder);
  for (const fs::path& folder : list_folders(subject_folder, "ses-"))
    if (is_wanted(wanted.sessions, "ses-", folder.filename().string().substr(4))) places.push_back(folder);
  for (const fs::path& place : places) {
    const std::string session = place == subject_folder ? "" : place.filename().string().substr(4);
    for (const named_file& file : list_series(place / "dwi", wanted.filter))
      if (auto series = describe_series(wanted, place / "dwi", file, subject, session)) all.push_back(*series);
  }
  if (all.size() == before && wanted.series.empty())
    spdlog::info("sub-{}: no diffusion series that was asked for", subject);
}

/// The folder of a subject as a project distributes it; "" for what it does not have.
struct project_layout {
  const char *folder, *dwi, *mask, *space, *parcellation;
};
constexpr project_layout project_layouts[] = {
    {"T1w/Diffusion", "data", "nodif_brain_mask", "_space-T1w", "T1w/aparc+aseg.nii.gz"},  // HCP
    {"dMRI/dMRI", "data_ud", "nodif_brain_mask_ud", "", ""},  // UK Biobank; ud: without distortions
    {"dMRI/dMRI", "data", "nodif_brain_mask", "", ""},
};

std::optional<bids_series> find_project_series(const fs::path& subject_folder, const project_layout& layout) {
  const fs::path folder = subject_folder / layout.folder;
  const auto existing = [](const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored) ? path.string() : std::string();
  };
  bids_series s;
  s.dwi = existing(folder / fmt::format("{}.nii.gz", layout.dwi));
  if (s.dwi.empty()) s.dwi = existing(folder / fmt::format("{}.nii", layout.dwi));
  if (s.dwi.empty()) return std::nullopt;
  s.subject = bids_label(subject_folder.filename().string());
  s.folder = "sub-" + s.subject + "/dwi";
  s.name = "sub-" + s.subject + layout.space;
  s.bval = existing(folder / "bvals");
  s.bvec = existing(folder / "bvecs");
  if (s.bval.empty() || s.bvec.empty())
    s.problem = fmt::format("no {} in {}", s.bval.empty() ? "bvals" : "bvecs", folder.string());
  s.mask = existing(folder / fmt::format("{}.nii.gz", layout.mask));
  s.grad_dev = existing(folder / "grad_dev.nii.gz");
  const std::string parcellation = layout.parcellation;
  if (!parcellation.empty()) s.parcellation = existing(subject_folder / parcellation);
  if (s.parcellation.empty())
    s.parcellation_problem =
        parcellation.empty() ? "the folder has none in the space of the series" : "no " + parcellation;
  return s;
}

std::optional<bids_series> find_project_series(const fs::path& subject_folder) {
  for (const project_layout& layout : project_layouts)
    if (auto series = find_project_series(subject_folder, layout)) return series;
  return std::nullopt;
}

}  // namespace

std::string without_prefix(const std::string& label, const std::string& prefix) {
  return label.starts_with(prefix) ? label.substr(prefix.size()) : label;
}

bool is_wanted(const std::vector<std::string>& wanted, const std::string& prefix, const std::string& label) {
  if (wanted.empty()) return true;
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const std::string& word) { return without_prefix(word, prefix) == label; });
}

bids_series begin_series(bids_name& name, const std::string& datatype, const std::string& subject,
                         const std::string& session) {
  bids_series s;
  s.datatype = datatype;
  s.subject = subject;
  s.session = session;
  s.folder = "sub-" + subject + (session.empty() ? "" : "/ses-" + session) + "/" + datatype;
  // The folders' labels, also in a name without them: they tell the series of two sessions apart.
  for (const auto& [key, label] : {std::pair("ses", session), std::pair("sub", subject)}) {
    if (label.empty()) continue;
    if (const std::string named = name.value(key); !named.empty() && named != label)
      s.problem = fmt::format("its name has {0}-{1}, but its folder {0}-{2}", key, named, label);
    std::erase_if(name.entities, [k = key](const auto& entity) { return entity.first == k; });
    name.entities.insert(name.entities.begin(), {key, label});
  }
  s.name = name.stem({"desc"});
  return s;
}

std::string series_id(const bids_series& series) { return series.name + "_" + series.datatype; }

bool is_wanted_series(const series_request& wanted, const bids_series& series) {
  return wanted.series.empty() || wanted.series == series.name || wanted.series == series_id(series);
}

bool is_wanted_subject(const series_request& wanted, const std::string& label) {
  const std::string begin = "sub-" + label;
  const bool has_series = wanted.series.empty() || wanted.series == begin || wanted.series.starts_with(begin + "_");
  return has_series && is_wanted(wanted.subjects, "sub-", label);
}

void report_left_out(const std::string& path, const std::string& why) {
  spdlog::info("{}: left out: it {}", path, why);
}

namespace {

void check_label(const series_request& wanted, bool is_found, const std::string& option, const std::string& word,
                 const std::string& what, const std::string& kind) {
  if (is_found) return;
  refuse_data("--{} {}: no such {} with a {} series that was asked for in {}", option, word, what, kind,
              wanted.bids_dir);
}

}  // namespace

void check_found(const series_request& wanted, const std::vector<bids_series>& all, const std::string& kind,
                 const std::string& expected) {
  const auto has = [&](std::string bids_series::*member, const std::string& label) {
    return std::any_of(all.begin(), all.end(), [&](const bids_series& s) { return s.*member == label; });
  };
  for (const std::string& word : wanted.subjects)
    check_label(wanted, has(&bids_series::subject, without_prefix(word, "sub-")), "participant-label", word, "subject",
                kind);
  for (const std::string& word : wanted.sessions)
    check_label(wanted, has(&bids_series::session, without_prefix(word, "ses-")), "session-id", word, "session", kind);
  if (all.empty()) refuse_data("{}: no {} series that was asked for; expected {}", wanted.bids_dir, kind, expected);
}

void check_different(const std::vector<bids_series>& all) {
  std::map<std::string, const bids_series*> known;
  for (const bids_series& series : all) {
    const auto [other, is_new] = known.emplace(series_id(series), &series);
    if (!is_new)
      refuse_data("{} and {} are both the series {}; choose one in --bids-filter-file, by more entities, or rename one",
                  other->second->dwi, series.dwi, series_id(series));
  }
}

std::vector<bids_series> find_series(const series_request& wanted) {
  std::error_code wrong_link;
  if (!fs::is_directory(wanted.bids_dir, wrong_link))
    refuse_missing("{}: no such folder; expected a BIDS data set", wanted.bids_dir);
  std::vector<bids_series> all;
  for (const fs::path& folder : list_folders(wanted.bids_dir, "")) {
    const std::string name = folder.filename().string();
    const bool is_bids = name.starts_with("sub-");
    if (!is_wanted_subject(wanted, is_bids ? name.substr(4) : bids_label(name))) continue;
    if (is_bids) {
      add_bids_subject(wanted, folder, all);
    } else if (const auto series = find_project_series(folder);
               series && wanted.sessions.empty() && is_wanted_series(wanted, *series)) {
      all.push_back(*series);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const bids_series& a, const bids_series& b) { return a.name < b.name; });
  return all;
}

}  // namespace voxherd
