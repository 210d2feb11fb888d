#include "src/tools/cohort/child_log.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/failure.hpp"
#include "src/tools/cohort/run_subject.hpp"

namespace voxherd {

std::string log_path(const std::string& out) { return out + ".log"; }

child_log::child_log(const std::string& out) : path_(log_path(out)) {
  create_folder_for(out);
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0)
    throw failure(exit_status::disk, fmt::format("{}: cannot open the file: {}", path_, std::strerror(errno)));
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
