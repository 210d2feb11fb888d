#include "core/json_text.hpp"

#include <fmt/core.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"

namespace voxherd {

namespace {

template <class Json>
Json parse(std::string_view text, const std::string& name) {
  const auto limit = [&](int depth, typename Json::parse_event_t, Json&) {
    if (depth > max_json_levels) refuse_data("{}: its JSON has too many levels, more than {}", name, max_json_levels);
    return true;
  };
  return Json::parse(text, limit, false);
}

template <class Json>
std::string dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::mutex source_mutex;
std::string source_name = "an input";

}  // namespace

std::string dump_json(const nlohmann::json& value, int indent) { return dump(value, indent); }
std::string dump_json(const nlohmann::ordered_json& value, int indent) { return dump(value, indent); }

void note_json_source(const std::string& name) {
  const std::lock_guard lock(source_mutex);
  source_name = name;
}

std::string json_error_text(const std::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return text.starts_with('[') && end != std::string::npos ? text.substr(end + 2) : text;
}

std::string describe_json_error(const std::exception& error) {
  const std::lock_guard lock(source_mutex);
  return fmt::format(
      "{}: its JSON has another form than expected ({}); is it a complete copy, of this version of voxherd?",
      source_name, json_error_text(error));
}

nlohmann::json parse_json(std::string_view text, const std::string& name) { return parse<nlohmann::json>(text, name); }

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& name) {
  return parse<nlohmann::ordered_json>(text, name);
}

}  // namespace voxherd
