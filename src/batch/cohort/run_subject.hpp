#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/command.hpp"
#include "mpi/result/named_output.hpp"
#include "src/batch/cohort/manifest.hpp"

namespace voxherd {

/// Written by `cohort --run` to OUT.task.json: the reason of a failure, and the job that was killed. Removed when the
/// result is complete.
struct task_note {
  bool ended = false;
  int status = 0;            ///< exit status, once it has ended
  std::string message;       ///< message of a failure
  std::string command_line;  ///< command line as typed in a shell
  std::string begun_at;      ///< UTC
  std::string host;          ///< host of rank 0
  int ranks = 1;
  std::string job;  ///< "SLURM job 1234_7", "" outside SLURM
};

std::string note_path(const std::string& out);

/// Writes under a temporary name, then renames. Throws failure (disk).
void write_note(const std::string& out, const task_note& note);

/// Empty if the note is missing or cannot be read.
std::optional<task_note> read_note(const std::string& out);

/// "SLURM job 1234_7" from the environment, "" outside SLURM.
std::string slurm_job_name();

/// A subject's command with the options that are given.
struct subject_command {
  const command& what;
  given_options given;
};

/// Parses the subject's words and those in `more`. Throws failure: unknown command, command without a result, wrong
/// option.
subject_command parse_subject(const cohort_subject& subject, const std::vector<std::string>& more);

/// The same, ready to run. Throws failure with the manifest's line.
std::unique_ptr<prepared_command> prepare_subject(const cohort_subject& subject, const std::vector<std::string>& more);

/// Every file that the subject's command reads or writes. If its options are wrong, only those of its result.
std::vector<kept_file> list_subject_files(const cohort_subject& subject, const std::vector<std::string>& more);

/// Which messages of a subject's run are logged.
enum class subject_log { everything, warnings, errors };

/// Runs the subject's command on all ranks, as if typed. Meanwhile OUT.task.json records command, host and job, and at
/// the end the status. Creates the result's folder. Collective; returns and throws what the command does.
exit_status run_subject(session& s, const cohort_subject& subject, const std::vector<std::string>& more,
                        subject_log log = subject_log::everything);

}  // namespace voxherd
