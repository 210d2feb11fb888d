#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/show/panels.hpp"
#include "src/view/request_gate.hpp"

/// What the page is sent: JSON, or a block of JSON and numbers (begin_block).
namespace voxherd::view {

/// Numbers that are not finite become null.
http_answer json_answer(const nlohmann::json& j);
http_answer binary_answer(std::string bytes);
http_answer not_found(const char* what);

/// An integer below `limit`; nothing for another text.
std::optional<std::uint64_t> find_number(std::string_view text, std::uint64_t limit);
/// The number at the end of an address: of "/api/voxel/12" after "/api/voxel/" it is 12. Throws failure (usage) unless
/// it is an integer below `limit`.
std::uint64_t number_after(std::string_view target, std::string_view prefix, std::uint64_t limit);

}  // namespace voxherd::view
