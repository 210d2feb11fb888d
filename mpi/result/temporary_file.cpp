#include "mpi/result/temporary_file.hpp"

#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace voxherd {

namespace {

constexpr int max_files = 1000;          // of one path at a time
constexpr std::size_t max_name = 255;    // of a file, on all usual file systems
constexpr std::size_t ending_room = 20;  // ".voxherd-part1000"

std::string temporary_name(const std::string& path, int number) {
  const std::filesystem::path full(path);
  std::string name = full.filename().string();
  if (name.size() > max_name - ending_room) name.resize(max_name - ending_room);
  name += fmt::format(".voxherd-part{}", number == 1 ? "" : std::to_string(number));
  return full.has_parent_path() ? (full.parent_path() / name).string() : name;
}

bool is_named(int file, const std::string& name) {
  struct stat open_one {
  }, named{};
  return fstat(file, &open_one) == 0 && lstat(name.c_str(), &named) == 0 && S_ISREG(named.st_mode) &&
         open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
}

/// Removes a file of this name if no process holds it. Returns whether it did. A process locks its file as soon as it
/// has created it; if this function was faster, that process finds its file removed and creates another one. Where the
/// file system has no locks, nothing is removed.
bool remove_abandoned(const std::string& name) {
  // Neither follows a link nor waits for the reader of a pipe.
  const int file = open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return false;
  const bool removes =
      is_named(file, name) && flock(file, LOCK_EX | LOCK_NB) == 0 && is_named(file, name) && unlink(name.c_str()) == 0;
  close(file);
  return removes;
}

}  // namespace

temporary_file::temporary_file(const std::string& path, int access) : path_(path) { create(access); }

void temporary_file::create(int access) {
  for (int number = 1; number <= max_files; ++number) {
    name_ = temporary_name(path_, number);
    const auto open_new = [&] { return open(name_.c_str(), access | O_CREAT | O_EXCL | O_CLOEXEC, 0666); };
    file_ = open_new();
    if (file_ < 0 && errno == EEXIST) {
      if (!remove_abandoned(name_)) continue;
      file_ = open_new();
      if (file_ < 0 && errno == EEXIST) continue;
    }
    if (file_ < 0) break;
    const bool is_locked = flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (is_locked && is_named(file_, name_)) {
      lock_ = fcntl(file_, F_DUPFD_CLOEXEC, 0);  // holds the lock when the file is closed and not yet renamed
      return;
    }
    close(std::exchange(file_, -1));
    errno = EEXIST;
  }
  error_ = errno;
}

temporary_file::~temporary_file() {
  if (error_ == 0 && !renamed_) unlink(name_.c_str());
  (void)close_file();
  if (lock_ >= 0) close(lock_);
}

int temporary_file::close_file() {
  if (file_ < 0) return 0;
  return close(std::exchange(file_, -1)) == 0 ? 0 : errno;
}

int temporary_file::rename(existing_file existing) {
  const int error = rename_file(name_, path_, existing);
  renamed_ = error == 0;
  return error;
}

}  // namespace voxherd
