#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Reading the JSON of a request. Each function throws failure (usage) that names the member and what it expects.
namespace voxherd::view::request_json {

/// An object without other members than these.
nlohmann::json parse_object(std::string_view text, const std::vector<const char*>& members);
const nlohmann::json& member(const nlohmann::json& object, const char* name);

double number(const nlohmann::json& value, const char* name, double min, double max);
std::int64_t integer(const nlohmann::json& value, const char* name, std::int64_t min, std::int64_t max);
/// A list of integers; empty without the member.
std::vector<std::int64_t> integers(const nlohmann::json& object, const char* name, std::int64_t min, std::int64_t max);

}  // namespace voxherd::view::request_json
