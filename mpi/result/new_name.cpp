#include "mpi/result/new_name.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

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

}  // namespace voxherd
