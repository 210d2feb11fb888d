#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/command.hpp"

namespace voxherd {

/// The command of that name. Throws failure (usage) naming the nearest one.
const command& find_command(std::span<const command* const> commands, const std::string& name);

/// Values of a command's options: from `words`, then from the file named by --config, then defaults. No word may be
/// left over, no option guessed from its beginning, no key of the file unknown. Throws failure (usage).
arguments parse_command_line(const command& c, const std::vector<std::string>& words);

/// Whether the command computes into --out, so that it can be stopped and resumed, and tried by --dry-run.
bool makes_result(const command& c);

std::string help_text(std::span<const command* const> commands);
std::string help_text(const command& c);

}  // namespace voxherd
