// Loaded before the C library (LD_PRELOAD): writes to chosen files fail as on a broken or full disk.
//
// VOXHERD_FAULT_FILE   part of the path of the files whose writes fail
// VOXHERD_FAULT_AFTER  number of writes that still succeed
// VOXHERD_FAULT_ERRNO  the error, as a number
// VOXHERD_FAULT_RANK   the rank that has the broken disk; all if it is not set
#include <dlfcn.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> writes{0};

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_chosen_file(int file) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  return std::strstr(path, variable("VOXHERD_FAULT_FILE")) != nullptr;
}

/// The error of this write, 0 for none.
int fault(int file) {
  const char* rank = variable("VOXHERD_FAULT_RANK");
  if (*variable("VOXHERD_FAULT_FILE") == '\0') return 0;
  if (*rank != '\0' && std::strcmp(rank, variable("OMPI_COMM_WORLD_RANK")) != 0) return 0;
  if (!is_chosen_file(file)) return 0;
  return writes++ < std::atol(variable("VOXHERD_FAULT_AFTER")) ? 0 : std::atoi(variable("VOXHERD_FAULT_ERRNO"));
}

template <class Function, class... Arguments>
auto fail_or_call(const char* name, int file, Arguments... arguments) {
  auto* const next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  using result = decltype(next(file, arguments...));
  if (const int why = fault(file); why != 0) {
    errno = why;
    return static_cast<result>(-1);
  }
  return next(file, arguments...);
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t count) {
  return fail_or_call<ssize_t(int, const void*, size_t)>("write", file, bytes, count);
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  return fail_or_call<ssize_t(int, const void*, size_t, off_t)>("pwrite", file, bytes, count, at);
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  return fail_or_call<ssize_t(int, const void*, size_t, off64_t)>("pwrite64", file, bytes, count, at);
}
ssize_t writev(int file, const struct iovec* pieces, int count) {
  return fail_or_call<ssize_t(int, const struct iovec*, int)>("writev", file, pieces, count);
}
ssize_t pwritev(int file, const struct iovec* pieces, int count, off_t at) {
  return fail_or_call<ssize_t(int, const struct iovec*, int, off_t)>("pwritev", file, pieces, count, at);
}
int ftruncate(int file, off_t size) noexcept { return fail_or_call<int(int, off_t)>("ftruncate", file, size); }
int ftruncate64(int file, off64_t size) noexcept { return fail_or_call<int(int, off64_t)>("ftruncate64", file, size); }
int fallocate(int file, int mode, off_t from, off_t size) {
  return fail_or_call<int(int, int, off_t, off_t)>("fallocate", file, mode, from, size);
}
int fallocate64(int file, int mode, off64_t from, off64_t size) {
  return fail_or_call<int(int, int, off64_t, off64_t)>("fallocate64", file, mode, from, size);
}
int fsync(int file) { return fail_or_call<int(int)>("fsync", file); }
int fdatasync(int file) { return fail_or_call<int(int)>("fdatasync", file); }

}  // extern "C"
