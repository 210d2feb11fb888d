#include "src/view/request_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"
#include "core/json_text.hpp"

namespace voxherd::view::request_json {

using nlohmann::json;

/// Whatever is wrong with a request is an error of its sender.
json parse_request(std::string_view text) try { return parse_json(text, "the request"); } catch (const failure& f) {
  refuse_usage(f.what());
}

json parse_object(std::string_view text, const std::vector<const char*>& members) {
  json o = parse_request(text);
  if (!o.is_object()) refuse_usage("the request is not a JSON object");
  for (const auto& [name, value] : o.items()) {
    bool known = false;
    for (const char* member : members) known = known || name == member;
    if (!known) refuse_usage("the request has an unknown member");
  }
  return o;
}

const json& member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) refuse_usage("{} is missing", name);
  return *found;
}

double number(const json& value, const char* name, double min, double max) {
  const double x = value.is_number() ? value.get<double>() : std::nan("");
  if (!(x >= min && x <= max)) refuse_usage("{}: expected a number from {} to {}", name, min, max);
  return x;
}

std::int64_t integer(const json& value, const char* name, std::int64_t min, std::int64_t max) {
  const double x = number(value, name, static_cast<double>(min), static_cast<double>(max));
  if (x != std::floor(x)) refuse_usage("{}: expected an integer", name);
  return static_cast<std::int64_t>(x);
}

std::vector<std::int64_t> integers(const json& object, const char* name, std::int64_t min, std::int64_t max) {
  const auto found = object.find(name);
  if (found == object.end()) return {};
  if (!found->is_array()) refuse_usage("{}: expected a list of integers", name);
  std::vector<std::int64_t> list;
  for (const json& one : *found) list.push_back(integer(one, name, min, max));
  return list;
}

}  // namespace voxherd::view::request_json
