#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <spdlog/spdlog.h>

#include "core/failure.hpp"

namespace voxherd::fuzz {

/// A file with a path that is gone at the end. In memory, except that HDF5 needs a name in a folder. `ending`: of such
/// a name, null for none.
class input {
 public:
  explicit input(std::string_view content, const char* ending = nullptr) {
    if (ending != nullptr) {
      path_ = "/dev/shm/voxherd_fuzz_" + std::to_string(getpid()) + ending;
      descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    } else {
      descriptor_ = memfd_create("input", MFD_CLOEXEC);
    }
    for (std::size_t done = 0; done < content.size();) {
      const ssize_t n = write(descriptor_, content.data() + done, content.size() - done);
      if (n <= 0) std::abort();
      done += static_cast<std::size_t>(n);
    }
  }
  ~input() {
    close(descriptor_);
    if (!path_.empty()) unlink(path_.c_str());
  }
  input(const input&) = delete;
  input& operator=(const input&) = delete;
  std::string path() const { return path_.empty() ? "/proc/self/fd/" + std::to_string(descriptor_) : path_; }

 private:
  int descriptor_ = -1;
  std::string path_;
};

/// How often a reader has accepted its input: a corpus of which nothing is accepted tests little.
inline long accepted_count = 0;

/// Calls a reader. It may refuse the input; that it blames the program is a finding, as is any other exception.
template <class Reader>
bool accepts(const Reader& reader) {
  static const bool quiet = (spdlog::set_level(spdlog::level::off), true);
  static_cast<void>(quiet);
  try {
    reader();
    ++accepted_count;
    return true;
  } catch (const failure& f) {
    if (f.status != exit_status::internal_error && *f.what() != '\0') return false;
    std::fprintf(stderr, "status %d: %s\n", static_cast<int>(f.status), f.what());
    std::abort();
  }
}

inline void require(bool claim, const char* text) {
  if (claim) return;
  std::fprintf(stderr, "not true: %s\n", text);
  std::abort();
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace voxherd::fuzz
