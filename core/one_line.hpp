#pragma once

#include <string>

namespace voxherd {

/// The text with control characters as \xNN: a file name or a value in a message may contain a line feed.
std::string one_line(const std::string& text);

}  // namespace voxherd
