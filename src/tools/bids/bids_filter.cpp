#include "src/tools/bids/bids_filter.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"

namespace voxherd {

namespace {

using json = nlohmann::json;

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

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw failure(exit_status::bad_data, fmt::format("--bids-filter-file {}: {}", path, what));
}

std::string value_text(const std::string& path, const std::string& entity, const json& value) {
  if (value.is_null()) return "";
  if (value.is_number_integer()) return std::to_string(value.get<long long>());
  if (!value.is_string())
    refuse(path, fmt::format("the value of {} is {}; expected a label, a number, null or a list of them", entity,
                             value.dump()));
  return value.get<std::string>();
}

entity_filter read_filter(const std::string& path, const json& object) {
  entity_filter filter;
  for (const auto& [name, value] : object.items()) {
    const auto found = short_names.find(name);
    std::vector<std::string>& values = filter[found == short_names.end() ? name : found->second];
    if (value.is_array()) {
      for (const json& one : value) values.push_back(value_text(path, name, one));
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
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object()) refuse(path, "is not a JSON object, such as {\"dwi\": {\"acquisition\": \"b2000\"}}");
  for (const auto& [kind, object] : all.items()) {
    if (!object.is_object()) refuse(path, fmt::format("{} is {}; expected an object of entities", kind, object.dump()));
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
