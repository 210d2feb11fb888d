#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/command.hpp"

namespace voxherd {

enum class help_format {
  text,      ///< for a terminal of 80 columns, without the options for the papers
  all,       ///< the same with all options
  markdown,  ///< tables, for the documents
  man,       ///< a manual page (troff)
  json,      ///< a Boutiques descriptor
};

/// `voxherd --help`.
std::string help_text(std::span<const command* const> commands);

/// `voxherd --help=man`: the page voxherd(1), which names the pages of the commands.
std::string manual_page(std::span<const command* const> commands);

/// `voxherd COMMAND --help[=markdown|man|json]`, or `--help-all`.
std::string help_text(const command& c, help_format format = help_format::text);

/// The format that "--help=WORD" names. Throws failure (usage).
help_format parse_help_format(const std::string& word);

/// Lines of a text, none longer than `width` where its words allow.
std::vector<std::string> wrap_text(const std::string& text, std::size_t width);

/// A script that completes commands and options, for `shell` bash or zsh. Throws failure (usage).
std::string completion_script(std::span<const command* const> commands, const std::string& shell);

}  // namespace voxherd
