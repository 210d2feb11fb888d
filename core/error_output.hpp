#pragma once

#include <string>

namespace voxherd {

/// Prints "voxherd: error: MESSAGE" on standard error as one line, whatever names a message quotes, and without the
/// middle of a very long one.
void print_error(const std::string& message);

}  // namespace voxherd
