// Requests as the configuration of a result and as words of a command line; options as JSON.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json_text.hpp"
#include "core/option_list.hpp"

namespace voxherd {

namespace {

using nlohmann::json;

/// A stored value as the words of a command line: lists as "7,9".
std::vector<std::string> as_words(const json& value, bool is_list) {
  if (value.is_string()) return {value.get<std::string>()};
  if (!value.is_array()) return {dump_json(value)};
  if (is_list) return value.get<std::vector<std::string>>();
  std::string list;
  for (const json& one : value) list += (list.empty() ? "" : ",") + dump_json(one);
  return {list};
}

/// "include 1", "include 2", ... or only "include".
std::vector<std::string> find_paths(const json& inputs, std::string name) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& key) {
    const auto found = inputs.find(key);
    const std::string path = found != inputs.end() && found->is_object() ? found->value("path", "") : "";
    if (!path.empty()) paths.push_back(path);
    return !path.empty();
  };
  if (!add(name)) {
    std::string other = name;
    std::replace(other.begin(), other.end(), '-', '_');
    add(other);
  }
  for (int n = 1; add(fmt::format("{} {}", name, n));) ++n;
  return paths;
}

}  // namespace

void option_list::add_stored_of(const void* request, json& configuration) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (kept_[i].storage == option_storage::never) continue;
    if (kept_[i].storage == option_storage::if_it_applies && !applies(i, request)) continue;
    if (!specs_[i].words.empty()) {
      if (const auto words = texts(i, request); !words.empty()) configuration[specs_[i].name] = words.front();
      continue;
    }
    std::visit(
        [&](const auto& v) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) configuration[specs_[i].name] = v;
        },
        get(i, request));
  }
}

void option_list::read_stored_into(void* request, const json& configuration) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const auto found = configuration.find(specs_[i].name);
    if (!specs_[i].stored || found == configuration.end()) continue;
    if (found->is_null() || *found == false || (found->is_array() && found->empty())) continue;
    set_words(i, request, specs_[i].takes_value() ? as_words(*found, specs_[i].repeats) : std::vector<std::string>());
  }
  complete_request(request);
}

void option_list::read_inputs_into(void* request, const json& inputs) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].type != option_type::file) continue;
    if (const auto paths = find_paths(inputs, specs_[i].name); !paths.empty()) set_words(i, request, paths);
  }
}

std::vector<std::string> option_list::words_of(const void* request) const {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const option_spec& spec = specs_[i];
    const std::string name = "--" + spec.name;
    if (!spec.takes_value()) {
      if (get(i, request) == option_value(true)) words.push_back(name);
      continue;
    }
    const std::vector<std::string> values = texts(i, request);
    std::string joined;
    for (const std::string& value : values) joined += (joined.empty() ? "" : ",") + value;
    if (values.empty() || joined == default_text(i, request) || !applies(i, request)) continue;
    if (spec.many) {
      words.push_back(name);
      words.insert(words.end(), values.begin(), values.end());
      continue;
    }
    for (const std::string& value : values) {
      if (value.starts_with('-')) {
        words.push_back(name + "=" + value);
      } else {
        words.insert(words.end(), {name, value});
      }
    }
  }
  return words;
}

json option_list::describe() const {
  json all = json::array();
  for (const option_spec& spec : specs_) {
    json o{{"name", spec.name}, {"text", spec.help}, {"unit", spec.unit}, {"default", spec.standard}};
    constexpr const char* types[] = {"flag", "integer", "real", "word", "text", "file"};
    o["type"] = types[static_cast<std::size_t>(spec.type)];
    if (!spec.words.empty()) o["words"] = spec.words;
    if (spec.limits) {
      o["min"] = spec.limits->or_zero ? 0 : spec.limits->min;
      if (!std::isinf(spec.limits->max)) o["max"] = spec.limits->max;
    }
    o["needs"] = json::array();
    for (const option_condition& c : spec.needs) o["needs"].push_back({{"names", c.names}, {"words", c.words}});
    all.push_back(std::move(o));
  }
  return all;
}

}  // namespace voxherd
