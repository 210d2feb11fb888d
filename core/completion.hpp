#pragma once

#include <span>
#include <string>

#include "core/command.hpp"

namespace voxherd {

/// A script that completes commands and options, for `shell` bash or zsh. Throws failure (usage).
std::string completion_script(std::span<const command* const> commands, const std::string& shell);

}  // namespace voxherd
