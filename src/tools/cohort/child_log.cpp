#include "src/tools/cohort/child_log.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/failure.hpp"
#include "src/tools/cohort/run_subject.hpp"

namespace voxherd {

std::string log_path(const std::string& out) { return out + ".log"; }

child_log::child_log(const std::string& out) {
  create_folder_for(out);
  const std::string path = log_path(out);
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0)
    throw failure(exit_status::disk, fmt::format("{}: cannot open the file: {}", path, std::strerror(errno)));
  // A file system without locks reports another error; then only the lock of the result protects the subject.
  locked_elsewhere_ = flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

child_log::~child_log() {
  if (file_ >= 0) close(file_);
}

child_log::child_log(child_log&& other) noexcept
    : file_(std::exchange(other.file_, -1)), locked_elsewhere_(other.locked_elsewhere_) {}

}  // namespace voxherd
