#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace voxherd {

/// What `cohort --run` leaves beside a subject's result, at OUT.task.json, so that a failure has a reason and a killed
/// job a name. It goes when the result is whole.
struct task_note {
  bool ended = false;
  int status = 0;            ///< exit status, once it has ended
  std::string message;       ///< of a failure
  std::string command_line;  ///< as a person would type it
  std::string begun_at;      ///< UTC
  std::string host;          ///< of rank 0
  int ranks = 1;
  std::string job;  ///< "SLURM job 1234_7", "" outside SLURM
};

std::string note_path(const std::string& out);

/// Written under another name, then renamed. Throws failure (disk).
void write_note(const std::string& out, const task_note& note);

/// Nothing where there is none, or none that can be read.
std::optional<task_note> read_note(const std::string& out);

/// "SLURM job 1234_7" of the environment, "" where there is none.
std::string slurm_job_name();

}  // namespace voxherd
