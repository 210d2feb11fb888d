#include "mpi/result/file_disk.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "core/failure.hpp"
#include "core/readable.hpp"

namespace voxherd {

namespace {

class open_file {
 public:
  explicit open_file(const std::string& path, int access = O_RDWR) : number_(open(path.c_str(), access | O_CLOEXEC)) {
    if (number_ < 0) throw failure(exit_status::disk, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  ~open_file() { close(number_); }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

void reserve_file(const std::string& path) {
  const open_file file(path);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) {
    throw failure(exit_status::disk, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  // Not posix_fallocate, which writes to every block if the file system cannot reserve.
  if (fallocate(file.number(), 0, 0, status.st_size) == 0) return;
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return;
  const int why = errno;
  throw failure(
      exit_status::disk,
      fmt::format("{}: {} needed: {}", path, readable_bytes(static_cast<double>(status.st_size)), std::strerror(why)));
}

void sync_file(const std::string& path) {
  const open_file file(path);
  // EINVAL: a file system that cannot flush a single file.
  if (fsync(file.number()) == 0 || errno == EINVAL) return;
  throw failure(exit_status::disk, fmt::format("flushing {}: {}", path, std::strerror(errno)));
}

void check_writable(const std::string& path) { (void)open_file(path); }

void check_readable(const std::string& path) {
  constexpr std::size_t part = 1 << 20;
  const open_file file(path, O_RDONLY);
  std::vector<char> bytes(part);
  if (pread(file.number(), bytes.data(), part, 0) >= 0) return;
  throw failure(exit_status::disk, fmt::format("reading {}: {}", path, std::strerror(errno)));
}

}  // namespace voxherd
