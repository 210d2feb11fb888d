#pragma once

#include <functional>
#include <string>

#include "core/command.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/run_types.hpp"

namespace voxherd {

/// Whether an existing result belongs to a command, and what the command would still do.
struct study_answer {
  std::string difference;  ///< the first option or input that differs: "fibres: 1 in the file, 2 now"; "" if none does
  std::string unfinished;  ///< what the command does after its result and has not done; "" for nothing

  bool is_complete() const { return difference.empty() && unfinished.empty(); }
};

/// Asks a command: runs it on this process alone, without its messages, so that it computes and writes nothing. It
/// reads options and inputs by the same code as always, and ends where it would begin the work: there the
/// configuration and the inputs' fingerprints are those that it would store, and are compared with those of the result.
/// The program's version and a device that was chosen automatically do not count. Throws what the command throws: a
/// missing or wrong input, failure (missing_input) if there is no result.
study_answer ask_command(const std::function<exit_status(session& alone)>& command);
study_answer ask_command(prepared_command& command);

/// For commands: whether they are asked. It is not a setting, because every command between the one that asks and the
/// runs would have to pass it on.
bool is_asked();
/// The answer of a command to the question, for settings.out. Throws failure (usage) with the first difference.
void answer_question(const session& s, const std::string& analysis, const run_settings& settings);
/// Throws failure (usage) with a difference between a result and a command; if the command is asked, this is its
/// answer.
[[noreturn]] void answer_with_difference(const std::string& path, const std::string& difference);
/// What is left to do after a result that is right: "merged_th1samples.nii.gz is missing".
void answer_unfinished(const std::string& what);

}  // namespace voxherd
