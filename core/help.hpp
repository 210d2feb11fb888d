#pragma once

#include <span>
#include <string>

#include "core/command.hpp"

namespace voxherd {

enum class help_format {
  text,      ///< for a terminal of 80 columns
  markdown,  ///< tables, for the documents
  man,       ///< a manual page (troff)
  json,      ///< a Boutiques descriptor
};

/// `voxherd --help`.
std::string help_text(std::span<const command* const> commands);

/// `voxherd COMMAND --help[=markdown|man|json]`.
std::string help_text(const command& c, help_format format = help_format::text);

/// The format that "--help=WORD" names. Throws failure (usage).
help_format parse_help_format(const std::string& word);

/// A script that completes commands and options, for `shell` bash or zsh. Throws failure (usage).
std::string completion_script(std::span<const command* const> commands, const std::string& shell);

}  // namespace voxherd
