#include "src/batch/bids/parcellation.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "core/failure.hpp"
#include "src/export/bids.hpp"
#include "src/scan/region_names.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// `unnamed`: neither the name nor a table says what the labels are.
enum class content { regions, tissues, unnamed };

struct described_segmentation {
  segmentation file;
  std::string table;
  content what = content::unnamed;
};

std::string plain_word(const std::string& text) {
  std::string word = bids_label(text);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

/// Labels of seg-, atlas- and desc- for tissue classes: of QSIPrep (hsvs), MRtrix (5tt), FSL (fast), ANTs (atropos),
/// fMRIPrep (carpet) and dHCP (drawem9).
bool is_tissue_label(const std::string& label) {
  static const std::set<std::string> labels{"fast", "atropos", "carpet",  "drawem9", "gm",
                                            "wm",   "csf",     "gmwmcsf", "brain"};
  const std::string word = plain_word(label);
  return labels.contains(word) || word.starts_with("tissue") || word.find("5tt") != std::string::npos ||
         word.find("hsvs") != std::string::npos;
}

/// Values of the entities that name a parcellation.
std::vector<std::string> labels_of(const bids_name& name) {
  std::vector<std::string> labels;
  for (const char* entity : {"seg", "atlas", "desc"})
    if (std::string value = name.value(entity); !value.empty()) labels.push_back(std::move(value));
  return labels;
}

bool has_tissues(const std::string& table) {
  try {
    return are_tissues(list_region_names(table));
  } catch (const failure&) {
    return false;  // the analysis reports the table
  }
}

/// The table of an image. By inheritance that of tissue classes without seg, atlas and desc would also be that of all
/// parcellations in its folder.
std::string find_table(const named_file& image) {
  const std::string table = find_inherited(image.root, fs::path(image.path).parent_path(), image.name, ".tsv");
  if (table.empty()) return "";
  const auto own = parse_bids_name(fs::path(table).filename().string());
  const bool has_own_label = own && labels_of(*own) == labels_of(image.name);
  return has_own_label || !has_tissues(table) ? table : "";
}

content find_content(const bids_name& name, const std::string& table) {
  const std::vector<std::string> labels = labels_of(name);
  if (std::any_of(labels.begin(), labels.end(), is_tissue_label)) return content::tissues;
  if (table.empty()) return labels.empty() ? content::unnamed : content::regions;
  return has_tissues(table) ? content::tissues : content::regions;
}

/// Whether the user has chosen such an image: tissue classes by their own entities, unnamed ones by any entity.
bool is_named(const bids_filter& filter, content what) {
  const std::vector<std::string> keys = filter.entities("dseg");
  if (what == content::unnamed) return filter.has("dseg");
  return std::any_of(keys.begin(), keys.end(), [](const std::string& key) {
    return key == "seg" || key == "atlas" || key == "desc" || key == "label" || key == "suffix";
  });
}

std::string list_names(const std::vector<described_segmentation>& all) {
  std::vector<std::string> names;
  for (const described_segmentation& one : all) names.push_back(fs::path(one.file.image.path).filename().string());
  return fmt::format("{}", fmt::join(names, ", "));
}

bool has_label(const described_segmentation& one, const char* label) {
  return one.file.image.name.value("desc") == label;
}

/// The same parcellation, for example of a session and of all sessions.
bool are_alike(const described_segmentation& a, const described_segmentation& b) {
  const auto key = [](const described_segmentation& one) {
    return std::pair(labels_of(one.file.image.name), one.file.image.name.value("label"));
  };
  return key(a) == key(b);
}

}  // namespace

bool are_tissues(const std::vector<std::string>& names) {
  static const std::set<std::string> tissues{"gm",
                                             "wm",
                                             "csf",
                                             "gray",
                                             "grey",
                                             "white",
                                             "graymatter",
                                             "greymatter",
                                             "whitematter",
                                             "cerebrospinalfluid",
                                             "corticalgm",
                                             "cgm",
                                             "subcorticalgm",
                                             "scgm",
                                             "sgm",
                                             "deepgm",
                                             "dgm",
                                             "corticalgraymatter",
                                             "corticalgreymatter",
                                             "subcorticalgraymatter",
                                             "subcorticalgreymatter",
                                             "deepgraymatter",
                                             "deepgreymatter",
                                             "cortex"};
  static const std::set<std::string> others{
      "",           "background", "bg",         "unknown",      "none",
      "brainstem",  "bs",         "cerebellum", "cbm",          "ventricles",
      "ventricle",  "lesion",     "lesions",    "pathological", "pathologicaltissue",
      "softtissue", "bone",       "skull",      "scalp",        "air",
      "nonbrain"};
  bool any = false;
  for (const std::string& name : names) {
    const std::string word = plain_word(name);
    const bool is_tissue = tissues.contains(word);
    if (!is_tissue && !others.contains(word)) return false;
    any = any || is_tissue;
  }
  return any;
}

parcellation_choice choose_parcellation(const std::vector<segmentation>& all, const bids_filter& filter) {
  std::vector<described_segmentation> found, chosen;
  for (const segmentation& one : all) {
    const std::string table = find_table(one.image);
    found.push_back({one, table, find_content(one.image.name, table)});
  }
  const auto choose = [&](const auto& is_wanted) {
    std::copy_if(found.begin(), found.end(), std::back_inserter(chosen), is_wanted);
  };
  choose([](const described_segmentation& one) { return one.what == content::regions; });
  if (chosen.empty()) choose([&](const described_segmentation& one) { return is_named(filter, one.what); });
  if (chosen.empty())
    return {
        "", "",
        fmt::format("no parcellation: {} has tissue classes; a parcellation has seg-, atlas- or desc- in its name, or "
                    "a table of its regions (_dseg.tsv); give its data set with --derivatives, or choose the image "
                    "by its entities in --bids-filter-file (dseg)",
                    list_names(found))};
  if (std::any_of(chosen.begin(), chosen.end(), [](const auto& one) { return has_label(one, "aparcaseg"); }))
    std::erase_if(chosen, [](const auto& one) { return !has_label(one, "aparcaseg"); });
  if (!std::all_of(chosen.begin(), chosen.end(), [&](const auto& one) { return are_alike(one, chosen.front()); }))
    return {"", "",
            fmt::format("several parcellations: {}; choose one in --bids-filter-file, such as {{\"dseg\": {{\"seg\": "
                        "\"NAME\"}}}}",
                        list_names(chosen))};
  std::vector<companion_file> files;
  for (const described_segmentation& one : chosen)
    files.push_back({one.file.image.path, one.file.distance, one.file.entities});
  const std::string image = choose_companion(files, "the parcellation");
  const auto own = std::find_if(chosen.begin(), chosen.end(),
                                [&](const described_segmentation& one) { return one.file.image.path == image; });
  return {image, own->table, ""};
}

}  // namespace voxherd
