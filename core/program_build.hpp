#pragma once

#include <string>
#include <string_view>

namespace voxherd {

/// What the running program was built from: "commit 0123456789ab", with ", changed" if files differ from it, or "commit
/// unknown"; "" in test programs.
const std::string& program_build();
/// By main(), before anything is computed.
void set_program_build(std::string_view build);

/// "voxherd 0.1.0 (commit 0123456789ab)" of a version's number and its build; without brackets if that is "".
std::string program_name(const std::string& number, const std::string& build);
/// The same of the running program.
std::string program_name();

}  // namespace voxherd
