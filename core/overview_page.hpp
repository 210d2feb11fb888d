#pragma once

#include <span>
#include <string>

#include "core/command.hpp"

namespace voxherd {

/// Text as troff prints it unchanged.
std::string troff(const std::string& text);

/// `voxherd --help=man`: the manual page voxherd(1), which names the pages of the commands.
std::string overview_page(std::span<const command* const> commands);

}  // namespace voxherd
