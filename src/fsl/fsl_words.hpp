#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/option_list.hpp"
#include "core/run_request.hpp"

namespace voxherd {

/// What becomes of an option of an FSL program.
enum class fsl_answer {
  value,                ///< an option of ours takes its value
  given,                ///< becomes an option of ours without a value, or with a fixed one
  no_difference,        ///< accepted: the result is the same with and without it
  no_difference_value,  ///< the same for an option with a value
  unsupported,          ///< refused
};

/// An option of an FSL program.
struct fsl_option {
  std::string_view names;  ///< "-n, --nf, --nfibres"
  fsl_answer answer;
  std::string_view ours;       ///< the option that replaces it, or the reason why there is none
  std::string_view help = {};  ///< in its place; "": that of the option of ours

  bool is_named(std::string_view name) const;
  /// The first name with two dashes, else the first one.
  std::string_view main_name() const;
  bool takes_value() const { return answer == fsl_answer::value || answer == fsl_answer::no_difference_value; }
};

/// An option of ours that messages name, and the option of FSL that it comes from.
struct told_option {
  std::string_view ours, fsl;
};

/// A program of FSL that a command replaces.
struct fsl_program {
  const char* name;
  std::span<const fsl_option> options;
  const option_list& (*table)();  ///< our options
  /// What `ours` expects, where the value is none for it; "" where it is. Null: nothing is checked.
  std::string (*expected)(const std::string& value, std::string_view ours) = nullptr;
  std::span<const told_option> told = {};  ///< beside those of `options`
};

/// The words of an FSL command line as options of ours: -n 3 or --nf=3 becomes --fibres=3. Options without effect
/// become
/// --no-difference=OPTION; words unknown to FSL are kept. Throws failure (usage) for an option that is not supported,
/// one without its value, or one with a value that takes none.
std::vector<std::string> translate_fsl_words(const fsl_program& program, const std::vector<std::string>& words);

/// A section of the help: the program's options as FSL lists them, each in a line with a tab before the names and one
/// after them, by which clients of FSL find them.
std::string list_fsl_options(const fsl_program& program);

/// A message in which options of ours are called as they were typed, or else by their main names in FSL.
std::string retell_in_fsl_words(const fsl_program& program, const std::string& message,
                                const std::vector<std::string>& typed);

/// Checks the environment of a program of FSL, and logs its options that have no effect here. Throws failure (usage).
void begin_fsl_command(const std::vector<std::string>& no_difference);

/// The listener of a run that is a part of a command, which prints its own last line and continues a stopped run.
run_listener listen_as_part(const run_request& run);

}  // namespace voxherd
