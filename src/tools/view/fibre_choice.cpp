#include "src/tools/view/fibre_choice.hpp"

#include <algorithm>

#include "src/tools/view/fibre_groups.hpp"
#include "src/tools/view/request_json.hpp"
#include "src/tools/view/streamlines.hpp"

namespace voxherd::view {

namespace {

using namespace request_json;
using nlohmann::json;

constexpr std::int64_t max_label = 1 << 24;

/// Increasing, each once.
template <class To>
std::vector<To> read_set(const json& o, const char* name, std::int64_t min, std::int64_t max) {
  std::vector<To> set;
  for (const std::int64_t one : integers(o, name, min, max)) set.push_back(static_cast<To>(one));
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

std::optional<double> read_limit(const json& o, const char* name) {
  constexpr double any = 1e300;
  if (!o.contains(name)) return std::nullopt;
  return number(o.at(name), name, -any, any);
}

}  // namespace

fibre_choice parse_fibre_choice(std::string_view text) {
  const json o =
      parse_object(text, {"count", "include", "exclude", "grouping", "hidden", "measure", "at_least", "at_most"});
  fibre_choice c;
  if (o.contains("count"))
    c.count =
        static_cast<std::uint64_t>(integer(o.at("count"), "count", 1, static_cast<std::int64_t>(max_streamlines)));
  c.include = read_set<std::int32_t>(o, "include", 1, max_label);
  c.exclude = read_set<std::int32_t>(o, "exclude", 1, max_label);
  c.hidden = read_set<std::uint32_t>(o, "hidden", 0, max_fibre_groups);
  if (o.contains("grouping")) c.grouping = static_cast<std::uint64_t>(integer(o.at("grouping"), "grouping", 0, 1));
  if (!c.hidden.empty() && !c.grouping) refuse("grouping is missing");
  if (o.contains("measure")) {
    if (!o.at("measure").is_string()) refuse("measure: expected a name");
    c.measure = o.at("measure").get<std::string>();
  }
  c.at_least = read_limit(o, "at_least");
  c.at_most = read_limit(o, "at_most");
  if (c.measure.empty() && (c.at_least || c.at_most)) refuse("measure is missing");
  return c;
}

}  // namespace voxherd::view
