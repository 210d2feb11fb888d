#include "src/tools/bids/bids_name.hpp"

#include <algorithm>

#include "src/export/bids_label.hpp"

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

}  // namespace voxherd
