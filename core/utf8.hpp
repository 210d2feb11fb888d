#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace voxherd {

/// The place of the first byte that is not UTF-8; npos if there is none.
std::size_t find_invalid_utf8(std::string_view bytes);
/// The text with invalid UTF-8 replaced, such as a path in another encoding.
std::string valid_utf8(const std::string& text);

}  // namespace voxherd
