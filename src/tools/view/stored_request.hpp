#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/options.hpp"

namespace voxherd::view {

/// As the words of a command line: lists as "7,9".
inline std::vector<std::string> as_words(const nlohmann::json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  if (!value.is_array()) return {value.dump()};
  std::string list;
  for (const nlohmann::json& one : value) list += (list.empty() ? "" : ",") + one.dump();
  return {list};
}

/// The request of a finished run: the values that its configuration stores, defaults for the other options. Files are
/// not among them. Throws failure (usage) for values that no run has written.
template <class T>
T read_stored_request(const option_table<T>& table, const nlohmann::json& configuration) {
  T request{};
  for (const auto& e : table.entries()) {
    const auto found = configuration.find(e.spec.name);
    if (!e.spec.stored || found == configuration.end()) continue;
    if (found->is_null() || *found == false || (found->is_array() && found->empty())) continue;
    e.fill(request, e.spec.takes_value() ? as_words(*found) : std::vector<std::string>());
  }
  return request;
}

}  // namespace voxherd::view
