#include "src/io/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/text.hpp"
#include "core/utf8.hpp"

namespace voxherd {

std::string printable(const std::string& path) {
  constexpr std::size_t longest = 300;
  std::string text = one_line(path);
  if (text.empty()) return "(empty file name)";
  if (text.size() > longest)  // a cut may be inside of a character
    text = valid_utf8(text.substr(0, longest / 2) + "..." + text.substr(text.size() - longest / 2));
  return text;
}

input_file::input_file(const std::string& path) : path_(path) {
  const std::string shown = path.empty() ? "(empty file name)" : path;
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0)
    refuse_missing("{}: cannot be opened: {}; check the name given", shown, std::strerror(errno));
  if (S_ISDIR(s.st_mode)) refuse_missing("{}: cannot be opened: it is a directory; expected a file", shown);
  if (!S_ISREG(s.st_mode))
    refuse_missing("{}: cannot be opened: it is not a regular file; expected a file on disk", shown);
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) refuse_missing("{}: cannot be opened: {}; check its permissions", shown, std::strerror(errno));
  size_ = static_cast<std::uint64_t>(s.st_size);
}

input_file::~input_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

input_file::input_file(input_file&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

std::size_t input_file::read_some(std::uint64_t offset, void* out, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n =
        ::pread(descriptor_, static_cast<char*>(out) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n < 0) {
      if (errno == EINTR) continue;
      fail_on_disk(errno, "{}: reading {} bytes at byte {} failed", name(), bytes - done, offset + done);
    }
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void input_file::read(std::uint64_t offset, void* out, std::size_t bytes) const {
  const std::size_t done = read_some(offset, out, bytes);
  if (done == bytes) return;
  fail_on_disk(
      "{}: ends at byte {}, expected {} bytes as at the start; was it changed while it was read? Do not modify it "
      "during a run; start again",
      name(), offset + done, size_);
}

void input_file::will_need(std::uint64_t offset, std::uint64_t bytes) const {
  // Only advice: a failure here does not matter.
  (void)::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

}  // namespace voxherd
