#pragma once

#include "core/command.hpp"

namespace voxherd {

/// Whether the option takes plain words of the command line.
bool is_positional(const command& c, const option_spec& spec);

/// Whether a command always needs the option: in its usage line it is outside brackets and parentheses, or it is the
/// first plain word. A command with several forms, separated by bars, always needs none.
bool is_required(const command& c, const option_spec& spec);

/// Throws failure (usage) that names all required options that are not given, and each group of alternatives,
/// "(--dwi FILE ... | --tensor FILE)" in the usage line, of which no option is given.
void check_required(const command& c, const given_options& given);

}  // namespace voxherd
