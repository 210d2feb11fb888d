#include "mpi/comm/launcher.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/failure.hpp"

namespace voxherd {

bool started_by_launcher(const variable_reader& variable) {
  constexpr std::array<const char*, 6> of_ranks{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                                "MV2_COMM_WORLD_RANK",  "PALS_RANKID", "FLUX_TASK_RANK"};
  return std::any_of(of_ranks.begin(), of_ranks.end(), [&](const char* name) { return variable(name).has_value(); }) ||
         launched_processes(variable) > 1;
}

int launched_rank(const variable_reader& variable) {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const auto value = variable(name)) return std::atoi(value->c_str());
  return 0;
}

long launched_processes(const variable_reader& variable) {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const auto value = variable(name)) return std::strtol(value->c_str(), nullptr, 10);
  return 0;
}

void check_session_folder() {
  std::string folder = "/tmp";
  for (const char* const name : {"OMPI_MCA_orte_jobfam_session_dir", "OMPI_MCA_orte_tmpdir_base", "TMPDIR"}) {
    if (const auto given = environment_variable(name)) {
      folder = *given;
      break;
    }
  }
  std::string name = folder + "/voxherd-trial-XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return;  // Open MPI may use another folder
  unlink(name.c_str());
  constexpr off_t page_bytes = 4096;
  const int error = posix_fallocate(file, 0, page_bytes);
  close(file);
  if (error != 0)
    throw failure(exit_status::disk, fmt::format("{}, the session folder of MPI, cannot hold another file: {}; free "
                                                 "some space there, or set TMPDIR to another folder",
                                                 folder, std::strerror(error)));
}

std::optional<std::string> environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace voxherd
