#pragma once

#include <string>

namespace voxherd::report {

/// Shows a file in the user's browser by xdg-open, without a shell. Without a display, or if that fails, prints how to
/// open it.
void show_page(const std::string& path);

}  // namespace voxherd::report
