#include "src/batch/bids/dataset_files.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/failure.hpp"
#include "core/json_text.hpp"
#include "src/export/bids.hpp"

namespace voxherd {

namespace {

bool is_label(const std::string& text) {
  // A plus sign is allowed in labels since BIDS 1.10.
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return is_bids_letter(c) || c == '+'; });
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

std::string bids_name::value(const std::string& entity) const {
  for (const auto& [key, label] : entities)
    if (key == entity) return label;
  return "";
}

std::string bids_name::stem(const std::vector<std::string>& left_out) const {
  std::string text;
  for (const auto& [key, label] : entities)
    if (!contains(left_out, key)) text += (text.empty() ? "" : "_") + key + "-" + label;
  return text;
}

std::optional<bids_name> parse_bids_name(const std::string& file_name) {
  const std::size_t dot = file_name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  bids_name name;
  name.extension = file_name.substr(dot);
  std::size_t at = 0;
  for (std::size_t end = file_name.find('_'); end < dot; end = file_name.find('_', at)) {
    const std::string part = file_name.substr(at, end - at);
    const std::size_t dash = part.find('-');
    if (dash == std::string::npos || !is_label(part.substr(0, dash)) || !is_label(part.substr(dash + 1)))
      return std::nullopt;
    name.entities.emplace_back(part.substr(0, dash), part.substr(dash + 1));
    at = end + 1;
  }
  name.suffix = file_name.substr(at, dot - at);
  if (!is_label(name.suffix)) return std::nullopt;
  return name;
}

bool has_entities(const bids_name& name, const bids_name& part, const std::vector<std::string>& left_out) {
  return std::all_of(part.entities.begin(), part.entities.end(), [&](const auto& entity) {
    return contains(left_out, entity.first) || name.value(entity.first) == entity.second;
  });
}

namespace fs = std::filesystem;

std::string subject_label(const fs::path& folder) {
  const std::string label = folder.filename().string().substr(4);
  if (is_label(label)) return label;
  spdlog::warn("{}: left out, because BIDS allows only letters and digits after sub-", folder.string());
  return "";
}

std::vector<named_file> list_bids_files(const fs::path& folder) {
  std::vector<named_file> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const auto name = parse_bids_name(entry.path().filename().string());
    std::error_code ignored;
    if (name && !entry.is_directory(ignored)) files.push_back({entry.path().string(), *name});
  }
  std::sort(files.begin(), files.end(), [](const named_file& a, const named_file& b) { return a.path < b.path; });
  return files;
}

bool is_image(const bids_name& name) { return name.extension == ".nii" || name.extension == ".nii.gz"; }

std::vector<fs::path> list_folders(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> folders;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    std::error_code ignored;
    if (entry.is_directory(ignored) && entry.path().filename().string().starts_with(prefix))
      folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

namespace {

/// Filters use the long names of entities, as PyBIDS has them.
const std::map<std::string, std::string> short_names{
    {"subject", "sub"},      {"session", "ses"},        {"acquisition", "acq"}, {"ceagent", "ce"},
    {"tracer", "trc"},       {"reconstruction", "rec"}, {"direction", "dir"},   {"description", "desc"},
    {"segmentation", "seg"}, {"resolution", "res"},     {"density", "den"}};

/// Without zeros in front: run 1 is run-01.
std::string plain_number(const std::string& text) {
  const bool is_number =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return text;
  const std::size_t first = text.find_first_not_of('0');
  return first == std::string::npos ? "0" : text.substr(first);
}

std::string value_text(const std::string& path, const std::string& entity, const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_number_integer()) return std::to_string(value.get<long long>());
  if (!value.is_string())
    refuse_data("--bids-filter-file {}: the value of {} is {}; expected a label, a number, null or a list of them",
                path, entity, dump_json(value));
  return value.get<std::string>();
}

entity_filter read_filter(const std::string& path, const nlohmann::json& object) {
  entity_filter filter;
  for (const auto& [name, value] : object.items()) {
    const auto found = short_names.find(name);
    std::vector<std::string>& values = filter[found == short_names.end() ? name : found->second];
    if (value.is_array()) {
      for (const nlohmann::json& one : value) values.push_back(value_text(path, name, one));
    } else {
      values.push_back(value_text(path, name, value));
    }
  }
  return filter;
}

/// The part of the name that a filter's key stands for.
std::string name_part(const bids_name& name, const std::string& key) {
  if (key == "suffix") return name.suffix;
  if (key == "extension") return name.extension;
  return name.value(key);
}

bool is_same_value(const std::string& key, const std::string& found, std::string wanted) {
  if (wanted == "*") return !found.empty();
  if (wanted.starts_with(key + "-")) wanted = wanted.substr(key.size() + 1);
  return found == wanted || (key == "run" && plain_number(found) == plain_number(wanted));
}

}  // namespace

bids_filter::bids_filter(const std::string& path, const std::string& text) {
  const nlohmann::json all = parse_json(text, "--bids-filter-file " + path);
  if (!all.is_object())
    refuse_data("--bids-filter-file {}: is not a JSON object, such as {{\"dwi\": {{\"acquisition\": \"b2000\"}}}}",
                path);
  for (const auto& [kind, object] : all.items()) {
    if (!object.is_object())
      refuse_data("--bids-filter-file {}: {} is {}; expected an object of entities", path, kind, dump_json(object));
    filters_[kind] = read_filter(path, object);
  }
}

std::vector<std::string> bids_filter::entities(const std::string& kind) const {
  std::vector<std::string> keys;
  if (const auto found = filters_.find(kind); found != filters_.end())
    for (const auto& [key, values] : found->second) keys.push_back(key);
  return keys;
}

bool bids_filter::accepts(const std::string& kind, const bids_name& name, const std::string& datatype) const {
  const auto found = filters_.find(kind);
  if (found == filters_.end()) return true;
  return std::all_of(found->second.begin(), found->second.end(), [&](const auto& filter) {
    const auto& [key, values] = filter;
    const std::string own = key == "datatype" ? datatype : name_part(name, key);
    if (key == "datatype" && datatype.empty()) return true;
    return std::any_of(values.begin(), values.end(),
                       [&, k = key](const std::string& wanted) { return is_same_value(k, own, wanted); });
  });
}

}  // namespace voxherd
