#include "src/view/answers.hpp"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"

namespace voxherd::view {

http_answer json_answer(const nlohmann::json& j) { return {200, "application/json", json_for_page(j)}; }

http_answer binary_answer(std::string bytes) { return {200, "application/octet-stream", std::move(bytes)}; }

http_answer not_found(const char* what) { return {404, "text/plain", fmt::format("{}\n", what)}; }

std::optional<std::uint64_t> find_number(std::string_view text, std::uint64_t limit) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value >= limit) return std::nullopt;
  return value;
}

std::uint64_t number_after(std::string_view target, std::string_view prefix, std::uint64_t limit) {
  const auto value = find_number(target.substr(prefix.size()), limit);
  if (!value) refuse_usage("{}: expected an integer below {}", prefix, limit);
  return *value;
}

}  // namespace voxherd::view
