#include "src/tools/view/connection_request.hpp"

#include <fmt/core.h>

#include <utility>

#include "src/tools/view/request_json.hpp"

namespace voxherd::view {

namespace {

using namespace request_json;
using nlohmann::json;
using tensor_field::metric_kind;

constexpr std::pair<const char*, metric_kind> metrics[] = {{"inverse", metric_kind::inverse},
                                                           {"adjugate", metric_kind::adjugate},
                                                           {"power", metric_kind::power},
                                                           {"jeong", metric_kind::jeong}};

/// A region's label, or a point of three numbers.
chosen_end read_end(const json& o, const char* name) {
  constexpr double far_mm = 1e5;
  constexpr std::int64_t max_label = 1 << 24;
  const json& value = member(o, name);
  if (!value.is_array()) return {std::nullopt, static_cast<std::int32_t>(integer(value, name, 1, max_label))};
  if (value.size() != 3) refuse(fmt::format("{}: expected a label, or a point of three numbers", name));
  std::array<double, 3> point{};
  for (std::size_t i = 0; i < 3; ++i) point[i] = number(value[i], name, -far_mm, far_mm);
  return {point, 0};
}

}  // namespace

const char* metric_name(metric_kind metric) {
  for (const auto& [name, kind] : metrics)
    if (kind == metric) return name;
  return "";
}

std::optional<metric_kind> find_metric(std::string_view name) {
  for (const auto& [known, kind] : metrics)
    if (name == known) return kind;
  return std::nullopt;
}

connection_request parse_connection_request(std::string_view text) {
  const json o = parse_object(text, {"from", "to", "metric", "alpha", "smooth", "max_ratio"});
  connection_request r;
  r.from = read_end(o, "from");
  r.to = read_end(o, "to");
  const json& name = member(o, "metric");
  const auto metric = name.is_string() ? find_metric(name.get<std::string>()) : std::nullopt;
  if (!metric) refuse("metric: expected inverse, adjugate, power or jeong");
  // The ranges of connect's options.
  r.metric = {*metric, number(member(o, "alpha"), "alpha", 0.1, 10), number(member(o, "smooth"), "smooth", 0, 10),
              number(member(o, "max_ratio"), "max_ratio", 1, 10000)};
  return r;
}

fibre_request parse_fibre_request(std::string_view text, std::int64_t max_count) {
  const json o = parse_object(text, {"connection", "epsilon", "count"});
  constexpr std::int64_t max_connection = std::int64_t{1} << 50;
  return {static_cast<std::uint64_t>(integer(member(o, "connection"), "connection", 0, max_connection)),
          number(member(o, "epsilon"), "epsilon", 0, largest_epsilon),
          static_cast<std::uint64_t>(integer(member(o, "count"), "count", 1, max_count))};
}

}  // namespace voxherd::view
