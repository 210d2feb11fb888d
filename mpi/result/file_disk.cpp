#include "mpi/result/file_disk.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/failure.hpp"
#include "core/readable.hpp"

namespace voxherd {

namespace {

constexpr std::size_t max_mpi_name = 220, max_result_name = 190;

class open_file {
 public:
  explicit open_file(const std::string& path) : number_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
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

void check_name_length(const std::string& out) {
  const std::size_t length = std::filesystem::path(out).filename().string().size();
  if (length <= max_result_name) return;
  throw failure(exit_status::usage, fmt::format("--out {}: the file's name has {} characters, expected at most {}", out,
                                                length, max_result_name));
}

short_name::short_name(const std::string& path) : name_(path) {
  if (path.size() <= max_mpi_name) return;
  const std::filesystem::path full(path);
  const std::string folder = full.has_parent_path() ? full.parent_path().string() : ".";
  folder_ = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) throw failure(exit_status::disk, fmt::format("{}: {}", path, std::strerror(errno)));
  name_ = fmt::format("/proc/self/fd/{}/{}", folder_, full.filename().string());
}

void short_name::remove_stale_semaphore() const {
  sem_unlink(("OMPIO_" + std::filesystem::path(name_).filename().string()).c_str());
}

short_name::~short_name() {
  if (folder_ >= 0) close(folder_);
}

}  // namespace voxherd
