#include "src/batch/cohort/child_process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/failure.hpp"
#include "core/own_program.hpp"
#include "core/threads.hpp"
#include "src/io/output_file.hpp"

namespace voxherd {

namespace {

constexpr const char* visible_devices = "CUDA_VISIBLE_DEVICES";
constexpr const char* parent_variable = "VOXHERD_PARENT";

/// Set by Open MPI's, MPICH's and other launchers and by srun for one rank. A job's own variables, such as
/// SLURM_JOB_ID, and a user's OMPI_MCA_ settings are not among them.
constexpr std::array<std::string_view, 31> launcher_prefixes{"OMPI_COMM_WORLD_",
                                                             "OMPI_UNIVERSE_SIZE",
                                                             "OMPI_APP_CTX",
                                                             "OMPI_FIRST_RANKS",
                                                             "OMPI_FILE_LOCATION",
                                                             "OMPI_NUM_APP_CTX",
                                                             "OMPI_COMMAND",
                                                             "OMPI_ARGV",
                                                             "OMPI_MCA_ess",
                                                             "OMPI_MCA_orte_",
                                                             "OMPI_MCA_pmix",
                                                             "OMPI_MCA_initial_",
                                                             "OMPI_MCA_shmem_RUN",
                                                             "PMIX_",
                                                             "PMI_",
                                                             "PRTE_",
                                                             "HYDI_",
                                                             "HYDRA_",
                                                             "MPI_LOCAL",
                                                             "MV2_COMM_WORLD_",
                                                             "PALS_",
                                                             "FLUX_TASK_",
                                                             "SLURM_PROCID",
                                                             "SLURM_LOCALID",
                                                             "SLURM_NODEID",
                                                             "SLURM_STEP",
                                                             "SLURM_TASK_PID",
                                                             "SLURM_PMIX",
                                                             "SLURM_MPI_TYPE",
                                                             "SLURM_SRUN_",
                                                             "SLURM_LAUNCH_"};

bool belongs_to_launcher(std::string_view variable) {
  return std::any_of(launcher_prefixes.begin(), launcher_prefixes.end(),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

std::vector<char*> as_pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What a child's standard streams are.
class child_streams {
 public:
  explicit child_streams(int log) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) posix_spawn_file_actions_adddup2(&actions_, log, stream);
  }
  ~child_streams() { posix_spawn_file_actions_destroy(&actions_); }
  child_streams(const child_streams&) = delete;
  child_streams& operator=(const child_streams&) = delete;
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

std::optional<std::string> find_variable(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& variable : environment)
    if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  return std::nullopt;
}

std::vector<std::string> child_environment(const std::vector<std::string>& own, const std::string& gpu) {
  std::vector<std::string> variables;
  for (const std::string& variable : own) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    if (belongs_to_launcher(name) || name == parent_variable || (name == visible_devices && !gpu.empty())) continue;
    variables.push_back(variable);
  }
  if (!gpu.empty()) {
    variables.push_back(fmt::format("{}={}", visible_devices, gpu));
    // CUDA then numbers GPUs as NVML does, which measures them.
    if (!find_variable(own, visible_devices) && !find_variable(own, "CUDA_DEVICE_ORDER"))
      variables.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
  }
  variables.push_back(fmt::format("{}={}", parent_variable, getpid()));
  return variables;
}

pid_t start_child(const std::vector<std::string>& words, const std::vector<std::string>& environment, int log) {
  std::vector<std::string> own_words{"voxherd"}, variables = environment;
  own_words.insert(own_words.end(), words.begin(), words.end());
  const child_streams streams(log);
  pid_t child = -1;
  // Not fork(), which MPI libraries forbid: memory that a network card uses must not be copied.
  const int error = posix_spawn(&child, own_program_to_start().c_str(), streams.actions(), nullptr,
                                as_pointers(own_words).data(), as_pointers(variables).data());
  if (error != 0)
    throw failure(exit_status::internal_error,
                  fmt::format("cannot start a process: {}; {}", std::strerror(error), thread_limits_text()));
  return child;
}

std::optional<child_end> poll_child(pid_t child) {
  int status = 0;
  const pid_t ended = waitpid(child, &status, WNOHANG);
  if (ended == 0) return std::nullopt;
  if (ended == child && WIFSIGNALED(status)) return child_end{0, WTERMSIG(status)};
  if (ended == child && WIFEXITED(status)) return child_end{WEXITSTATUS(status), 0};
  return child_end{static_cast<int>(exit_status::internal_error), 0};  // somebody else has waited for it
}

void follow_parent() {
  const char* const parent = std::getenv(parent_variable);
  if (parent == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != std::atoi(parent)) std::raise(SIGTERM);  // it died before
}

std::string log_path(const std::string& out) { return out + ".log"; }

child_log::child_log(const std::string& out) : path_(log_path(out)) {
  create_folder(std::filesystem::path(out).parent_path().string());
  // A link was not made for the log: its target stays.
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file_ < 0 && errno == ELOOP) refuse_usage("{} is a symbolic link; remove it, or choose another result", path_);
  if (file_ < 0) fail_on_disk(errno, "{}: cannot open the file", path_);
  begin_ = lseek(file_, 0, SEEK_END);
  // A file system without locks reports another error; then only the lock of the result protects the subject.
  locked_elsewhere_ = flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

child_log::~child_log() {
  if (file_ >= 0) close(file_);
}

child_log::child_log(child_log&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      begin_(other.begin_),
      locked_elsewhere_(other.locked_elsewhere_) {}

std::string child_log::first_error() const {
  constexpr std::string_view sign = "voxherd: error: ";
  std::ifstream file(path_);
  file.seekg(begin_);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(sign)) return line.substr(sign.size());
  return "";
}

}  // namespace voxherd
