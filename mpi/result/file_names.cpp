#include "mpi/result/file_names.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "core/failure.hpp"
#include "core/text.hpp"

namespace voxherd {

namespace {

bool is_unsupported(int error) {
  return error == ENOSYS || error == EINVAL || error == EOPNOTSUPP || error == EPERM || error == EMLINK;
}

bool are_one_file(const std::string& a, const std::string& b) {
  struct stat x {
  }, y{};
  return lstat(a.c_str(), &x) == 0 && lstat(b.c_str(), &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

}  // namespace

int rename_without_replacing(const std::string& from, const std::string& to) {
  return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
}

int link_then_unlink(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) != 0) {
    const int error = errno;
    // NFS may repeat a request whose first answer was lost: the link exists, and is ours.
    if (error != EEXIST || !are_one_file(from, to)) return error;
  }
  return unlink(from.c_str()) == 0 ? 0 : errno;
}

int check_then_rename(const std::string& from, const std::string& to) {
  struct stat ignored {};
  if (lstat(to.c_str(), &ignored) == 0) return EEXIST;
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

int rename_to_new_name(const std::string& from, const std::string& to) {
  int error = rename_without_replacing(from, to);
  if (is_unsupported(error)) error = link_then_unlink(from, to);
  if (is_unsupported(error)) error = check_then_rename(from, to);
  return error;
}

int rename_file(const std::string& from, const std::string& to, existing_file existing) {
  if (existing == existing_file::kept) return rename_to_new_name(from, to);
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

namespace {

constexpr std::size_t max_mpi_name = 220, max_result_name = 190;

}  // namespace

void check_name_length(const std::string& out) {
  const std::size_t length = std::filesystem::path(out).filename().string().size();
  if (length <= max_result_name) return;
  refuse_usage("--out {}: the file's name has {} characters, expected at most {}", out, length, max_result_name);
}

short_name::short_name(const std::string& path) : name_(path) {
  if (path.size() <= max_mpi_name) return;
  const std::filesystem::path full(path);
  const std::string folder = full.has_parent_path() ? full.parent_path().string() : ".";
  if (access("/proc/self/fd", F_OK) != 0)
    fail_on_disk(
        "{}: the name has {} characters, expected at most {} where /proc is not mounted; change to the folder and give "
        "the file's name",
        path, path.size(), max_mpi_name);
  folder_ = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) fail_on_disk(errno, path);
  name_ = fmt::format("/proc/self/fd/{}/{}", folder_, full.filename().string());
}

void short_name::remove_stale_semaphore() const {
  sem_unlink(("OMPIO_" + std::filesystem::path(name_).filename().string()).c_str());
}

short_name::~short_name() {
  if (folder_ >= 0) close(folder_);
}

disk_file::disk_file(const std::string& path, access a)
    : path_(path), number_(open(path.c_str(), (a == access::write ? O_RDWR : O_RDONLY) | O_CLOEXEC)) {
  if (number_ < 0) fail_on_disk(errno, path);
}

disk_file::~disk_file() {
  if (number_ >= 0) close(number_);
}
std::uint64_t disk_file::bytes() const {
  struct stat status {};
  if (fstat(number_, &status) != 0) fail_on_disk(errno, path_);
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t disk_file::read(std::uint64_t first, std::span<std::byte> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t n = pread(number_, to.data() + done, to.size() - done, static_cast<off_t>(first + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_on_disk(errno, "reading {}", path_);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void disk_file::write(std::uint64_t first, std::span<const std::byte> from) const {
  for (std::size_t done = 0; done < from.size();) {
    const ssize_t n = pwrite(number_, from.data() + done, from.size() - done, static_cast<off_t>(first + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_on_disk(errno, "writing to {}", path_);
    done += static_cast<std::size_t>(n);
  }
}

void reserve_file(const std::string& path) {
  const disk_file file(path, disk_file::access::write);
  const std::uint64_t bytes = file.bytes();
  // Not posix_fallocate, which writes to every block if the file system cannot reserve.
  if (fallocate(file.number(), 0, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return;
  const int why = errno;
  fail_on_disk(why, "{}: {} needed", path, readable_bytes(static_cast<double>(bytes)));
}

namespace {

/// 0, or the error of a file or folder whose bytes may not be on the disk. Some file systems cannot flush a single
/// file; they refuse with one of several errors.
int flush_to_disk(int file) {
  if (fsync(file) == 0) return 0;
  for (const int unsupported : {EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS})
    if (errno == unsupported) return 0;
  return errno;
}

}  // namespace

void sync_file(const std::string& path) {
  const disk_file file(path, disk_file::access::write);
  if (const int error = flush_to_disk(file.number()); error != 0) fail_on_disk(error, "flushing {}", path);
}

void sync_folder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  (void)flush_to_disk(folder);
  close(folder);
}

void check_writable(const std::string& path) { (void)disk_file(path, disk_file::access::write); }

void check_readable(const std::string& path) {
  std::vector<std::byte> first(1 << 20);
  (void)disk_file(path).read(0, first);
}

void check_result_place(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status found = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(found)) refuse_missing("{}: no such file; expected a voxherd result", path);
  // Opening a pipe would wait for its writer.
  if (std::filesystem::is_other(found) || std::filesystem::is_directory(found))
    refuse_missing("{}: not a regular file; expected a voxherd result on disk", path);
}

}  // namespace voxherd
