#include "src/view/connection_request.hpp"

#include "src/scan/label_image.hpp"
#include "src/view/request_json.hpp"

namespace voxherd::view {

namespace {

using namespace request_json;
using nlohmann::json;

/// A region's label, or a point of three numbers.
chosen_end read_end(const json& o, const char* name) {
  constexpr double far_mm = 1e5;
  const json& value = member(o, name);
  if (!value.is_array()) return {std::nullopt, static_cast<std::int32_t>(integer(value, name, 1, largest_label))};
  if (value.size() != 3) refuse_usage("{}: expected a label, or a point of three numbers", name);
  std::array<double, 3> point{};
  for (std::size_t i = 0; i < 3; ++i) point[i] = number(value[i], name, -far_mm, far_mm);
  return {point, 0};
}

}  // namespace

asked_connection parse_connection_request(std::string_view text) {
  std::vector<const char*> members{"from", "to"};
  members.insert(members.end(), page_options.begin(), page_options.end());
  const json o = parse_object(text, members);
  asked_connection r{read_end(o, "from"), read_end(o, "to"), json::object()};
  for (const char* name : page_options) r.options[name] = member(o, name);
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
