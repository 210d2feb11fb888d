#include "src/io/output_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
constexpr int gzip_window_bits = 15 + 16;  // zlib: adding 16 selects the gzip format
constexpr int gzip_level = 4;              // higher levels are much slower and hardly reduce float32 maps
constexpr int gzip_memory_level = 8;

}  // namespace

int create_temporary(const std::string& name, int access) {
  ::unlink(name.c_str());
  return ::open(name.c_str(), access | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

struct output_file::state {
  state(const std::string& p, coding c) : path(p), temporary(p + ".part"), buffer(buffer_bytes) {
    descriptor = create_temporary(temporary, O_WRONLY);
    if (descriptor < 0) refuse("cannot be created");
    if (c == coding::plain) return;
    gzip = true;
    deflateInit2(&z, gzip_level, Z_DEFLATED, gzip_window_bits, gzip_memory_level, Z_DEFAULT_STRATEGY);
    z.next_out = buffer.data();
    z.avail_out = static_cast<uInt>(buffer.size());
  }

  ~state() {
    if (gzip) deflateEnd(&z);
    if (descriptor >= 0) ::close(descriptor);
    if (!finished) ::unlink(temporary.c_str());
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  [[noreturn]] void refuse(const char* what) const {
    const int code = errno;
    const char* remedy = code == ENOSPC || code == EDQUOT ? "; free some space and start again" : "";
    throw failure(exit_status::disk, fmt::format("{}: {}: {}{}", printable(path), what, std::strerror(code), remedy));
  }

  void write_through(const void* data, std::size_t bytes) const {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t n = ::write(descriptor, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) refuse("cannot be written");
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
  }

  void drain() {
    write_through(buffer.data(), buffer.size() - z.avail_out);
    z.next_out = buffer.data();
    z.avail_out = static_cast<uInt>(buffer.size());
  }

  void compress(const unsigned char* data, std::size_t bytes) {
    while (bytes > 0) {
      const std::size_t piece = std::min(bytes, std::size_t{1} << 30);
      z.next_in = const_cast<unsigned char*>(data);  // zlib reads only, but its field is not const
      z.avail_in = static_cast<uInt>(piece);
      while (z.avail_in > 0) {
        deflate(&z, Z_NO_FLUSH);
        if (z.avail_out == 0) drain();
      }
      data += piece;
      bytes -= piece;
    }
  }

  std::string path, temporary;
  std::vector<unsigned char> buffer;
  int descriptor = -1;
  bool gzip = false, finished = false;
  z_stream z{};
};

output_file::output_file(const std::string& path, coding c) : state_(std::make_unique<state>(path, c)) {}
output_file::~output_file() = default;
output_file::output_file(output_file&&) noexcept = default;

void output_file::write(const void* data, std::size_t bytes) {
  if (state_->gzip) {
    state_->compress(static_cast<const unsigned char*>(data), bytes);
  } else {
    state_->write_through(data, bytes);
  }
}

void output_file::write_at(std::uint64_t place, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pwrite(state_->descriptor, at, bytes, static_cast<off_t>(place));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) state_->refuse("cannot be written");
    at += n, place += static_cast<std::uint64_t>(n), bytes -= static_cast<std::size_t>(n);
  }
}

void output_file::finish() {
  state& s = *state_;
  if (s.gzip) {
    while (deflate(&s.z, Z_FINISH) != Z_STREAM_END) s.drain();
    s.drain();
  }
  // Network file systems may report a full disk only on close.
  const int code = ::close(std::exchange(s.descriptor, -1));
  if (code != 0) s.refuse("cannot be written");
  if (std::rename(s.temporary.c_str(), s.path.c_str()) != 0) s.refuse("cannot be renamed from its temporary name");
  s.finished = true;
}

}  // namespace voxherd
