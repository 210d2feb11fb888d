#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace voxherd {

/// The value of a variable in an environment of NAME=VALUE.
std::optional<std::string> find_variable(const std::vector<std::string>& environment, const std::string& name);

/// The environment of a child that is an MPI program of one rank: without the variables by which mpirun or srun tell a
/// rank who it is. The user's own settings stay. `gpu`: the only GPU that it sees; "" leaves CUDA_VISIBLE_DEVICES.
std::vector<std::string> child_environment(const std::vector<std::string>& own, const std::string& gpu);

/// Starts this program with other words; `log` receives all that it prints. Throws failure (internal_error).
pid_t start_child(const std::vector<std::string>& words, const std::vector<std::string>& environment, int log);

/// How a child has ended.
struct child_end {
  int status = 0;  ///< exit status
  int signal = 0;  ///< that killed it; 0 for none
};

/// None while the child runs.
std::optional<child_end> poll_child(pid_t child);

/// In a child of start_child(): from now on it receives SIGTERM when its parent dies, and at once if that has happened.
/// Does nothing in other processes.
void follow_parent();

std::string log_path(const std::string& out);

/// OUT.log, to which a child appends what it prints. Its lock, which the child shares, is held until both have ended: a
/// second pool, also on another node, then knows that the subject is being computed, from the first moment.
class child_log {
 public:
  /// Creates the folder if it is missing. Throws failure (disk).
  explicit child_log(const std::string& out);
  ~child_log();
  child_log(child_log&& other) noexcept;
  child_log(const child_log&) = delete;
  child_log& operator=(const child_log&) = delete;

  bool is_locked_elsewhere() const { return locked_elsewhere_; }
  int descriptor() const { return file_; }

  /// The first error that was printed since this log was opened; "" for none.
  std::string first_error() const;

 private:
  std::string path_;
  int file_ = -1;
  off_t begin_ = 0;  ///< where the messages of this child begin
  bool locked_elsewhere_ = false;
};

}  // namespace voxherd
