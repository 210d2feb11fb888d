#pragma once

#include <sys/types.h>

#include <string>

namespace voxherd {

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
