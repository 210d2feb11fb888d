// Loaded before the C library (LD_PRELOAD): reads or writes of chosen files fail as on a broken or full disk.
//
// VOXHERD_FAULT_FILE   part of the path of the files that fail
// VOXHERD_FAULT_CALLS  "write" (also truncating, reserving and syncing), "sync" or "read"; write if it is not set
// VOXHERD_FAULT_BEGIN  calls succeed until this file exists; they may fail from the start if it is not set
// VOXHERD_FAULT_AFTER  number of calls that still succeed after that; 0 if it is not set
// VOXHERD_FAULT_COUNT  number of calls that then fail; all if it is not set
// VOXHERD_FAULT_ERRNO  the error, as a number; "kill": the process kills itself (SIGKILL) instead
// VOXHERD_FAULT_RANK   the rank that has the broken disk; all if it is not set
#include <dlfcn.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum class kind { read, write, sync };

std::atomic<long> calls{0};

const char* variable(const char* name, const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

bool is_chosen_file(int file) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  return std::strstr(path, variable("VOXHERD_FAULT_FILE")) != nullptr;
}

bool is_chosen_kind(kind k) {
  const char* const chosen = variable("VOXHERD_FAULT_CALLS", "write");
  if (k == kind::sync && std::strcmp(chosen, "sync") == 0) return true;
  return std::strcmp(chosen, k == kind::read ? "read" : "write") == 0;
}

bool has_begun() {
  const char* const file = variable("VOXHERD_FAULT_BEGIN");
  return *file == '\0' || access(file, F_OK) == 0;
}

/// The error of this call, 0 for none.
int fault(kind k, int file) {
  const char* rank = variable("VOXHERD_FAULT_RANK");
  if (*variable("VOXHERD_FAULT_FILE") == '\0' || !is_chosen_kind(k)) return 0;
  if (*rank != '\0' && std::strcmp(rank, variable("OMPI_COMM_WORLD_RANK")) != 0) return 0;
  const int before = errno;
  const bool is_chosen = is_chosen_file(file) && has_begun();
  errno = before;
  if (!is_chosen) return 0;
  const long number = calls++ - std::atol(variable("VOXHERD_FAULT_AFTER"));
  const char* const count = variable("VOXHERD_FAULT_COUNT");
  if (number < 0 || (*count != '\0' && number >= std::atol(count))) return 0;
  const char* const error = variable("VOXHERD_FAULT_ERRNO");
  if (std::strcmp(error, "kill") == 0) raise(SIGKILL);
  return std::atoi(error);
}

template <class Function, class... Arguments>
auto fail_or_call(const char* name, kind k, int file, Arguments... arguments) {
  auto* const next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  using result = decltype(next(file, arguments...));
  if (const int why = fault(k, file); why != 0) {
    errno = why;
    return static_cast<result>(-1);
  }
  return next(file, arguments...);
}

/// For functions that return the error itself.
template <class Function, class... Arguments>
int error_or_call(const char* name, int file, Arguments... arguments) {
  if (const int why = fault(kind::write, file); why != 0) return why;
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name))(file, arguments...);
}

}  // namespace

extern "C" {

ssize_t read(int file, void* bytes, size_t count) {
  return fail_or_call<ssize_t(int, void*, size_t)>("read", kind::read, file, bytes, count);
}
ssize_t pread(int file, void* bytes, size_t count, off_t at) {
  return fail_or_call<ssize_t(int, void*, size_t, off_t)>("pread", kind::read, file, bytes, count, at);
}
ssize_t pread64(int file, void* bytes, size_t count, off64_t at) {
  return fail_or_call<ssize_t(int, void*, size_t, off64_t)>("pread64", kind::read, file, bytes, count, at);
}
ssize_t readv(int file, const struct iovec* pieces, int count) {
  return fail_or_call<ssize_t(int, const struct iovec*, int)>("readv", kind::read, file, pieces, count);
}
ssize_t preadv(int file, const struct iovec* pieces, int count, off_t at) {
  return fail_or_call<ssize_t(int, const struct iovec*, int, off_t)>("preadv", kind::read, file, pieces, count, at);
}

ssize_t write(int file, const void* bytes, size_t count) {
  return fail_or_call<ssize_t(int, const void*, size_t)>("write", kind::write, file, bytes, count);
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  return fail_or_call<ssize_t(int, const void*, size_t, off_t)>("pwrite", kind::write, file, bytes, count, at);
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  return fail_or_call<ssize_t(int, const void*, size_t, off64_t)>("pwrite64", kind::write, file, bytes, count, at);
}
ssize_t writev(int file, const struct iovec* pieces, int count) {
  return fail_or_call<ssize_t(int, const struct iovec*, int)>("writev", kind::write, file, pieces, count);
}
ssize_t pwritev(int file, const struct iovec* pieces, int count, off_t at) {
  return fail_or_call<ssize_t(int, const struct iovec*, int, off_t)>("pwritev", kind::write, file, pieces, count, at);
}
int ftruncate(int file, off_t size) noexcept {
  return fail_or_call<int(int, off_t)>("ftruncate", kind::write, file, size);
}
int ftruncate64(int file, off64_t size) noexcept {
  return fail_or_call<int(int, off64_t)>("ftruncate64", kind::write, file, size);
}
int fallocate(int file, int mode, off_t from, off_t size) {
  return fail_or_call<int(int, int, off_t, off_t)>("fallocate", kind::write, file, mode, from, size);
}
int fallocate64(int file, int mode, off64_t from, off64_t size) {
  return fail_or_call<int(int, int, off64_t, off64_t)>("fallocate64", kind::write, file, mode, from, size);
}
int posix_fallocate(int file, off_t from, off_t size) {
  return error_or_call<int(int, off_t, off_t)>("posix_fallocate", file, from, size);
}
int posix_fallocate64(int file, off64_t from, off64_t size) {
  return error_or_call<int(int, off64_t, off64_t)>("posix_fallocate64", file, from, size);
}
int fsync(int file) { return fail_or_call<int(int)>("fsync", kind::sync, file); }
int fdatasync(int file) { return fail_or_call<int(int)>("fdatasync", kind::sync, file); }

}  // extern "C"
