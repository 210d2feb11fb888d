#include "src/io/output_file.hpp"

#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/failure.hpp"
#include "mpi/result/temporary_file.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
constexpr int gzip_window_bits = 15 + 16;  // zlib: adding 16 selects the gzip format
constexpr int gzip_level = 4;              // higher levels are much slower and hardly reduce float32 maps
constexpr int gzip_memory_level = 8;

}  // namespace

struct output_file::state {
  state(const std::string& p, coding c) : path(p), file(p), buffer(buffer_bytes) {
    if (file.error() != 0) refuse("cannot be created", file.error());
    if (c == coding::plain) return;
    gzip = true;
    deflateInit2(&z, gzip_level, Z_DEFLATED, gzip_window_bits, gzip_memory_level, Z_DEFAULT_STRATEGY);
    z.next_out = buffer.data();
    z.avail_out = static_cast<uInt>(buffer.size());
  }

  ~state() {
    if (gzip) deflateEnd(&z);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  [[noreturn]] void refuse(const char* what, int code) const {
    const char* remedy = code == ENOSPC || code == EDQUOT ? "; free some space and start again" : "";
    throw failure(exit_status::disk, fmt::format("{}: {}: {}{}", path, what, std::strerror(code), remedy));
  }

  void write_through(const void* data, std::size_t bytes) const {
    const char* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t n = ::write(file.descriptor(), at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) refuse("cannot be written", errno);
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

  std::string path;
  temporary_file file;
  std::vector<unsigned char> buffer;
  bool gzip = false;
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
    const ssize_t n = ::pwrite(state_->file.descriptor(), at, bytes, static_cast<off_t>(place));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) state_->refuse("cannot be written", errno);
    at += n, place += static_cast<std::uint64_t>(n), bytes -= static_cast<std::size_t>(n);
  }
}

void output_file::finish() {
  state& s = *state_;
  if (s.gzip) {
    while (deflate(&s.z, Z_FINISH) != Z_STREAM_END) s.drain();
    s.drain();
  }
  if (const int code = s.file.close_file(); code != 0) s.refuse("cannot be written", code);
  if (const int code = s.file.rename(existing_file::replaced); code != 0)
    s.refuse("cannot be renamed from its temporary name", code);
}

void create_folder(const std::string& path) {
  std::error_code code;
  if (!path.empty()) std::filesystem::create_directories(path, code);
  if (code) throw failure(exit_status::disk, fmt::format("{}: cannot create the folder: {}", path, code.message()));
}

void write_file(const std::string& path, std::string_view text) {
  output_file file(path, output_file::coding::plain);
  file.write(text.data(), text.size());
  file.finish();
}

void copy_file(const std::string& from, const std::string& to) {
  const input_file original(from);
  output_file copy(to, output_file::coding::plain);
  std::vector<char> piece(std::size_t{1} << 20);
  for (std::uint64_t at = 0; at < original.size(); at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(piece.size(), original.size() - at));
    original.read(at, piece.data(), piece.size());
    copy.write(piece.data(), piece.size());
  }
  copy.finish();
}

}  // namespace voxherd
