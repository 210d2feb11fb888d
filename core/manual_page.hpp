#pragma once

#include <span>
#include <string>

#include "core/command.hpp"

namespace voxherd {

/// `voxherd --help=man`: the page voxherd(1), which names the pages of the commands.
std::string manual_page(std::span<const command* const> commands);

/// `voxherd COMMAND --help=man`: the page voxherd-COMMAND(1).
std::string manual_page(const command& c);

}  // namespace voxherd
