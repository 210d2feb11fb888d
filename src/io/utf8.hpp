#pragma once

#include <string>

namespace voxherd {

/// The text with invalid UTF-8 replaced, such as a path in another encoding: JSON documents must be valid.
std::string valid_utf8(const std::string& text);

}  // namespace voxherd
