#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace voxherd {

/// Written by `cohort --run` to OUT.task.json: the reason of a failure, and the job that was killed. Removed when the
/// result is complete.
struct task_note {
  bool ended = false;
  int status = 0;            ///< exit status, once it has ended
  std::string message;       ///< of a failure
  std::string command_line;  ///< as typed in a shell
  std::string begun_at;      ///< UTC
  std::string host;          ///< of rank 0
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

}  // namespace voxherd
