#pragma once

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

/// A file in memory, with a path.
class memory_file {
 public:
  explicit memory_file(std::string_view content) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    for (std::size_t done = 0; done < content.size();) {
      const ssize_t n = write(descriptor_, content.data() + done, content.size() - done);
      if (n <= 0) std::abort();
      done += static_cast<std::size_t>(n);
    }
  }
  ~memory_file() { close(descriptor_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Calls a reader. It may refuse the input; that it blames the program is a finding, as is any other exception.
template <class Reader>
bool accepts(const Reader& reader) {
  static const bool quiet = (spdlog::set_level(spdlog::level::off), true);
  static_cast<void>(quiet);
  try {
    reader();
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
