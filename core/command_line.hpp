#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/command.hpp"

namespace voxherd {

/// The command of that name. Throws failure (usage) with the most similar name.
const command& find_command(std::span<const command* const> commands, const std::string& name);

/// The command that replaces a program of this name or path; null if there is none.
const command* find_replaced(std::span<const command* const> commands, const std::string& program);

/// A name of a program that a command replaces, and the word of the command line that it implies, if any: in
/// command::other_names they are joined by a colon, as in "Pipeline_NODDI_Bingham.sh:--model=bingham".
struct replaced_name {
  std::string program, word;
};
std::vector<replaced_name> list_replaced(const command& c);
/// The word that a program's name implies; "" for none.
std::string implied_word(const command& c, const std::string& program);

/// The options of a command that are given in `words`, else in the file named by --config. Throws failure (usage) for
/// an unexpected word, an unknown or shortened option, an unknown key of the file.
given_options parse_command_line(const command& c, const std::vector<std::string>& words);

/// The command with its options read, ready to run. Throws failure (usage).
std::unique_ptr<prepared_command> prepare_command(const command& c, const std::vector<std::string>& words);

/// Whether the command writes a result to --out and so has --resume and --dry-run.
bool makes_result(const command& c);

}  // namespace voxherd
