#include "mpi/result/same_study.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/json_text.hpp"

namespace voxherd {

namespace {

std::string shown(const nlohmann::json& value) {
  const std::string text = value.is_null() ? "nothing" : dump_json(value);
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

nlohmann::json read_inputs(const nlohmann::json& provenance) {
  const auto found = provenance.find("inputs");
  return found != provenance.end() && found->is_object() ? *found : nlohmann::json::object();
}

/// Leaves what is in the files: inputs that were moved are the same.
void remove_places(nlohmann::json& value) {
  if (value.is_object()) {
    for (const char* place : {"path", "paths", "state"}) value.erase(place);
  }
  if (value.is_structured())
    for (nlohmann::json& one : value) remove_places(one);
}

/// The content of an input, without its paths and what follows from it; null if there is none.
nlohmann::json input_content(const nlohmann::json& inputs, const std::string& name) {
  nlohmann::json input = inputs.value(name, nlohmann::json());
  if (!input.is_object()) return input;
  remove_places(input);
  input.erase("voxels");
  return input;
}

/// The file, or the rule that replaces it; "" if neither is known.
std::string input_name(const nlohmann::json& inputs, const std::string& name) {
  const nlohmann::json input = inputs.value(name, nlohmann::json());
  for (const char* field : {"path", "rule"})
    if (input.is_object() && input.contains(field)) return input.at(field).get<std::string>();
  return input.is_null() ? "nothing" : "";
}

std::optional<std::string> inputs_differ(const nlohmann::json& stored, const nlohmann::json& now) {
  std::set<std::string> names;
  for (const nlohmann::json* inputs : {&stored, &now})
    for (const auto& [name, input] : inputs->items()) names.insert(name);
  for (const std::string& name : names) {
    auto difference = first_difference(input_content(stored, name), input_content(now, name), "inputs." + name);
    if (!difference) continue;
    const std::string before = input_name(stored, name), after = input_name(now, name);
    return before == after ? difference : fmt::format("inputs.{}: {} in the file, {} now", name, before, after);
  }
  return std::nullopt;
}

/// An option that another version of the program did not have, or no longer has, tells nothing.
nlohmann::json common_options(const nlohmann::json& one, const nlohmann::json& other) {
  nlohmann::json common = nlohmann::json::object();
  for (const auto& [name, value] : one.items())
    if (other.contains(name)) common[name] = value;
  return common;
}

std::optional<std::string> options_differ(const result_reader& stored, const result_layout& wanted) {
  const auto difference = first_difference(stored.version(), wanted.version, "version");
  return difference && stored.analysis_name() == wanted.analysis ? difference : find_difference(stored, wanted);
}

void refuse(const result_reader& stored, const std::optional<std::string>& difference) {
  if (!difference) return;
  refuse_usage("{} belongs to a different study ({}); use the same options and inputs, or --overwrite", stored.path(),
               *difference);
}

}  // namespace

std::optional<std::string> first_difference(const nlohmann::json& stored, const nlohmann::json& now,
                                            const std::string& where) {
  if (stored == now) return std::nullopt;
  if (stored.is_object() && now.is_object()) {
    std::set<std::string> keys;
    for (const auto& [key, value] : stored.items()) keys.insert(key);
    for (const auto& [key, value] : now.items()) keys.insert(key);
    for (const std::string& key : keys) {
      const nlohmann::json nothing;
      auto difference =
          first_difference(stored.contains(key) ? stored.at(key) : nothing, now.contains(key) ? now.at(key) : nothing,
                           where.empty() ? key : where + "." + key);
      if (difference) return difference;
    }
  }
  if (stored.is_array() && now.is_array() && stored.size() == now.size()) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (auto d = first_difference(stored[i], now[i], fmt::format("{}[{}]", where, i))) return d;
    }
  }
  return fmt::format("{}: {} in the file, {} now", where, shown(stored), shown(now));
}

std::optional<std::string> find_difference(const result_reader& stored, const result_layout& wanted) {
  std::optional<std::string> difference = first_difference(stored.analysis_name(), wanted.analysis, "analysis");
  if (difference) return difference;
  const nlohmann::json &before = stored.configuration(), &now = wanted.configuration;
  const bool is_same_version = stored.version() == wanted.version;
  difference = is_same_version ? first_difference(before, now, "")
                               : first_difference(common_options(before, now), common_options(now, before), "");
  if (difference) return difference;
  return inputs_differ(read_inputs(stored.provenance()), read_inputs(wanted.provenance));
}

void check_same_options(const result_reader& stored, const result_layout& wanted) {
  refuse(stored, options_differ(stored, wanted));
}

void check_same_study(const result_reader& stored, const result_layout& wanted) {
  result_layout in_file;
  in_file.outputs = stored.outputs();
  in_file.constants = stored.constants();
  std::optional<std::string> difference = options_differ(stored, wanted);
  if (!difference) difference = first_difference(describe_contents(in_file), describe_contents(wanted), "contents");
  if (!difference) difference = first_difference(stored.grid().size, wanted.grid.size, "image size");
  if (!difference && !std::ranges::equal(stored.item_voxels(), wanted.item_voxels))
    difference = "the items' voxels differ";
  if (!difference && stored.point_offsets() != wanted.point_offsets) difference = "the items' numbers of points differ";
  refuse(stored, difference);
}

std::vector<bool> verified_batches(const session& s, const result_reader& reader) {
  const auto& batches = reader.batches();
  std::vector<std::uint8_t> good(batches.size(), 0);
  s.agree([&] {
    for (std::size_t b = 0; b < batches.size(); ++b) {
      if (b % static_cast<std::size_t>(s.size()) != static_cast<std::size_t>(s.rank())) continue;
      const journal_entry& entry = reader.journal()[b];
      good[b] = entry.done == 1 && reader.compute_checksum(batches[b]) == entry.checksum ? 1 : 0;
    }
  });
  s.all_reduce(reduction::max, std::span<std::uint8_t>(good));
  return {good.begin(), good.end()};
}

}  // namespace voxherd
