#include "mpi/comm/mpi_start.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/text.hpp"
#include "core/threads.hpp"
#include "mpi/comm/stop_wait.hpp"

namespace voxherd {

namespace {

double limit_seconds() {
  const auto given = environment_variable("VOXHERD_START_SECONDS");
  return given ? std::strtod(given->c_str(), nullptr) : 300;
}

/// One after the other, so that the launcher ends the other ranks before they print the same message.
double delay_seconds(int rank) { return std::min(5.0 * rank, 60.0); }

void end_after(const std::stop_token& started, double seconds, int rank, int error_output) {
  if (stopped_within(started, seconds + delay_seconds(rank))) return;
  const std::string line = fmt::format(
      "voxherd: error: MPI has not started after {:g} s (rank {}): another rank has died or does not run, or a node "
      "does not answer; start again, with --resume if OUT.part exists (VOXHERD_START_SECONDS is the limit; 0: none)\n",
      seconds, rank);
  (void)!write(error_output, line.data(), line.size());
  end_process(exit_status::interrupted);
}

constexpr const char* unknown_reason =
    "MPI has not started, its message is above; start again, with --resume if OUT.part exists";

/// All ranks fail alike: one message per node.
std::string message_of_node(const std::string& message) {
  return launched_node_rank(environment_variable).value_or(0) == 0 ? message : std::string();
}

unexpected_exit catch_failed_start(int error_output) {
  const std::string doubt = doubt_about_mpi(environment_variable);
  return {unexpected_exit::calls::exit_and_quick, doubt.empty() ? exit_status::interrupted : exit_status::usage,
          message_of_node(doubt.empty() ? unknown_reason : doubt), error_output};
}

/// The thread must not read the environment, which MPI_Init changes meanwhile.
std::jthread start_timer(int error_output) {
  const double seconds = limit_seconds();
  const int rank = launched_rank(environment_variable);
  if (seconds <= 0) return {};
  return start_thread("waits for the start of MPI",
                      [=](const std::stop_token& started) { end_after(started, seconds, rank, error_output); });
}

}  // namespace

void claim_mpi_start(const variable_reader& variable) {
  const auto folder = variable("PMIX_SERVER_TMPDIR"), job = variable("PMIX_NAMESPACE");
  if (!folder || !job) return;
  const std::string name = fmt::format("{}/voxherd.{}.{}", *folder, *job, launched_rank(variable));
  const int file = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  if (file >= 0 || errno != EEXIST) return;
  refuse_usage(
      message_of_node("an earlier command of this script has used MPI, which a rank can start only once; start each "
                      "analysis by its own mpirun or srun, instead of the script"));
}

std::string doubt_about_mpi(const variable_reader& variable) {
  const long tasks = launched_processes(variable);
  if (tasks < 2 || !variable("SLURM_STEP_NUM_TASKS")) return "";
  for (const char* const connected : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"})
    if (variable(connected)) return "";
  return unconnected_text(tasks);
}

kept_errors::kept_errors(bool mutes) {
  if (!mutes) return;
  std::fflush(stderr);
  kept_ = memfd_create("voxherd", MFD_CLOEXEC);
  output_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (kept_ >= 0 && output_ >= 0) dup2(kept_, STDERR_FILENO);
}

kept_errors::~kept_errors() {
  if (kept_ >= 0 && output_ >= 0) {
    std::fflush(stderr);
    dup2(output_, STDERR_FILENO);
    std::array<char, 4096> some{};
    lseek(kept_, 0, SEEK_SET);
    for (ssize_t n = 0; (n = read(kept_, some.data(), some.size())) > 0;)
      (void)!write(STDERR_FILENO, some.data(), static_cast<std::size_t>(n));
  }
  if (kept_ >= 0) close(kept_);
  if (output_ >= 0) close(output_);
}

int kept_errors::error_output() const { return output_ >= 0 ? output_ : STDERR_FILENO; }

start_guard::start_guard()
    : kept_(!doubt_about_mpi(environment_variable).empty()),
      exits_(catch_failed_start(kept_.error_output())),
      timer_(start_timer(kept_.error_output())) {}

}  // namespace voxherd
