#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "core/escape.hpp"
#include "core/json_text.hpp"
#include "src/export/bids.hpp"
#include "src/export/connectome_text.hpp"
#include "src/export/fibres.hpp"

namespace voxherd {

namespace {

/// "meanSpeed" for "mean_speed": labels contain only letters and digits.
std::string measure_label(const std::string& name) {
  std::string label;
  bool begins_word = false;
  for (const char c : name) {
    if (c == '_') {
      begins_word = true;
      continue;
    }
    label += begins_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins_word = false;
  }
  return label;
}

/// The value of a BIDS entity in a file's name; "" without it.
std::string entity_value(const std::string& name, const std::string& entity) {
  const std::string mark = "_" + entity + "-";
  const std::size_t at = name.find(mark);
  if (at == std::string::npos) return "";
  const std::size_t from = at + mark.size();
  return name.substr(from, name.find_first_of("_.", from) - from);
}

/// The file name of the parcellation; "" if the provenance has none.
std::string parcellation_name(const nlohmann::json& provenance) {
  const auto inputs = provenance.value("inputs", nlohmann::json::object());
  for (const char* option : {"connectome", "targets"})
    if (inputs.contains(option) && inputs.at(option).is_object())
      return std::filesystem::path(inputs.at(option).value("path", std::string())).filename().string();
  return "";
}

/// Whether a part of a file's name says whose it is: "sub-01", "ses-1", or "01" and "sub01" of the subject 01.
bool is_label_of_subject(const std::string& part, const bids_place& place) {
  if (part.starts_with("sub-") || part.starts_with("ses-")) return true;
  for (const char* entity : {"sub", "ses"}) {
    const std::string label = entity_value("_" + place.name, entity);
    if (!label.empty() && (part == label || part == entity + label)) return true;
  }
  return false;
}

/// The value of the parcellation's entity seg, atlas or desc, else a label from its file's name without the parts that
/// differ between subjects: matrices of all subjects have the same names.
std::string segmentation_label(const std::string& parcellation, const bids_place& place) {
  for (const char* entity : {"seg", "atlas", "desc"})
    if (const std::string value = entity_value(parcellation, entity); !value.empty()) return value;
  const bool is_bids = parcellation.starts_with("sub-");
  std::string label;
  std::istringstream parts(parcellation.substr(0, parcellation.find(".nii")));
  for (std::string part; std::getline(parts, part, '_');)
    if (!is_label_of_subject(part, place) && !(is_bids && part.find('-') != std::string::npos)) label += part;
  return bids_label(label);
}

bool is_symmetric(const constant& c) {
  const std::size_t n = c.shape.at(1);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (c.values[i * n + j] != c.values[j * n + i]) return false;
  return true;
}

bids_json describe_matrix(const constant& c, const bids_method& how, const bids_place& place,
                          const std::string& nodes) {
  bids_json sidecar{{"RelationshipMeasure", c.name},
                    {"MeasureDescription", c.meaning + "; " + how.description},
                    {"Units", c.unit},
                    {"Weighted", true},
                    {"Directed", !is_symmetric(c)},
                    {"ValidDiagonal", false},
                    {"StorageFormat", "Full"},
                    {"NodeIndices", "bids::" + nodes}};
  add_origin(sidecar, place);
  return sidecar;
}

const bids_json node_columns{
    {"matrix_index", {{"Description", "row and column of the matrices, from 0"}}},
    {"node_file", {{"Description", "the parcellation"}}},
    {"node_index", {{"Description", "value of the region in the parcellation"}}},
    {"label", {{"Description", "name of the region, which is the column's name in the matrices"}}}};

std::string describe_nodes(const result_reader& result, const std::string& parcellation, const bids_place& place) {
  std::string file = parcellation.empty() ? "n/a" : parcellation;
  for (const std::string& uri : place.sources)
    if (!parcellation.empty() && uri.ends_with("/" + parcellation)) file = uri;
  std::string text = "matrix_index\tnode_file\tnode_index\tlabel\n";
  const std::vector<std::int32_t> labels = node_labels(result);
  const region_name_list names = node_names(result);
  for (std::size_t i = 0; i < labels.size(); ++i)
    text += fmt::format("{}\t{}\t{}\t{}\n", i, bids_cell(file), labels[i], bids_cell(names.at(i)));
  return text;
}

}  // namespace

bool has_connectome(const result_reader& result) {
  const auto& all = result.constants();
  return std::any_of(all.begin(), all.end(), [&](const constant& c) { return is_region_matrix(result, c); });
}

export_plan plan_bids_tracts(const result_volumes& volumes, const bids_place& place, const bids_method& how) {
  const result_reader& result = volumes.result();
  const std::string seg = segmentation_label(parcellation_name(result.provenance()), place);
  const std::string name =
      fmt::format("{}/{}{}_desc-{}_tractogram", place.folder, place.name, seg.empty() ? "" : "_seg-" + seg, how.label);
  bids_json sidecar{{"Description", fmt::format("{}; groups A-B: paths between the regions A and B", how.description)},
                    {"Units", "mm"}};
  add_origin(sidecar, place);
  export_plan plan;
  plan.texts.push_back({name + ".json", dump_json(sidecar, 2) + "\n"});
  const auto positions = place.half_positions ? position_type::float16 : position_type::float32;
  plan.files.push_back({name + ".trx", [file = result.path(), positions](const std::string& path) {
                          const result_fibres fibres(file);
                          write_trx(fibres, path, {group_by_regions(fibres), positions});
                        }});
  return plan;
}

export_plan plan_bids_connectome(const result_volumes& volumes, const bids_place& place, const bids_method& how) {
  const result_reader& result = volumes.result();
  const std::string parcellation = parcellation_name(result.provenance()),
                    seg = segmentation_label(parcellation, place);
  const std::string begin = place.folder + "/" + place.name + (seg.empty() ? "" : "_seg-" + seg);
  const std::string nodes = fmt::format("{}_desc-{}_nodeindices", begin, how.label);
  const region_name_list names = node_names(result);
  export_plan plan;
  plan.texts.push_back({nodes + ".tsv", describe_nodes(result, parcellation, place)});
  bids_json columns = node_columns;
  add_origin(columns, place);
  plan.texts.push_back({nodes + ".json", dump_json(columns, 2) + "\n"});
  for (const constant& c : result.constants()) {
    if (!is_region_matrix(result, c)) continue;
    const std::string name = fmt::format("{}_meas-{}_desc-{}_relmat", begin, measure_label(c.name), how.label);
    plan.texts.push_back({name + ".tsv", matrix_table(c, names)});
    plan.texts.push_back({name + ".json", dump_json(describe_matrix(c, how, place, nodes + ".tsv"), 2) + "\n"});
  }
  return plan;
}

}  // namespace voxherd
