#include "mpi/comm/launcher.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/failure.hpp"

namespace voxherd {

namespace {

constexpr std::array rank_variables{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                    "MV2_COMM_WORLD_RANK",  "PALS_RANKID", "FLUX_TASK_RANK"};

/// The rank that a launcher of MPI says.
std::optional<int> find_rank(const variable_reader& variable) {
  for (const char* const name : rank_variables)
    if (const auto value = variable(name)) return std::atoi(value->c_str());
  return std::nullopt;
}

/// Whether this process is a task of srun that no other launcher has started below it.
bool is_task_of_srun(const variable_reader& variable) {
  if (!variable("SLURM_STEP_NUM_TASKS")) return false;
  const auto job = variable("PMIX_NAMESPACE");
  return job ? job->starts_with("slurm.") : true;
}

/// The parts of a heterogeneous job of SLURM are one job of MPI, but each says only its own number of tasks.
bool is_part_of_job(const variable_reader& variable) { return variable("SLURM_HET_SIZE").value_or("1") != "1"; }

}  // namespace

bool is_one_of_ranks(const variable_reader& variable) {
  const long started = launched_processes(variable);
  return started > 1 || (started == 0 && find_rank(variable).has_value());
}

bool is_later_rank(const variable_reader& variable) {
  return is_one_of_ranks(variable) && find_rank(variable).value_or(0) > 0;
}

int launched_rank(const variable_reader& variable) {
  const auto task = variable("SLURM_PROCID");
  return find_rank(variable).value_or(task ? std::atoi(task->c_str()) : 0);
}

long launched_processes(const variable_reader& variable) {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE"})
    if (const auto value = variable(name)) return std::strtol(value->c_str(), nullptr, 10);
  if (!is_task_of_srun(variable) || is_part_of_job(variable)) return 0;
  return std::strtol(variable("SLURM_STEP_NUM_TASKS")->c_str(), nullptr, 10);
}

std::string unconnected_text(long started) {
  return fmt::format(
      "the launcher started {} processes, which do not know each other: use `srun --mpi=pmix`, or the "
      "mpirun of this MPI; to run each by itself, start it with `srun -n 1`",
      started);
}

namespace {

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
    fail_on_disk(
        "{}, the session folder of MPI, cannot hold another file: {}; free some space there, or set TMPDIR to another "
        "folder",
        folder, std::strerror(error));
}

void check_shared_memory() {
  const std::string name = fmt::format("/voxherd.trial.{}", getpid());
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0 && errno == EEXIST) return;  // of a process in another container
  if (file < 0)
    fail_on_disk(
        "/dev/shm, which several ranks on a node need, cannot be written: {}; mount a tmpfs there that you may write "
        "to (docker: --shm-size, not --read-only alone), or run one rank per node, as one process without mpirun",
        std::strerror(errno));
  shm_unlink(name.c_str());
  close(file);
}

}  // namespace

void check_mpi_folders() {
  check_session_folder();
  check_shared_memory();
}

std::optional<std::string> environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace voxherd
