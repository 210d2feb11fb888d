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

}  // namespace voxherd
