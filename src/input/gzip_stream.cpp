#include "src/input/gzip_stream.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "mpi/failure.hpp"

namespace voxherd {

namespace {

constexpr std::size_t input_bytes = std::size_t{1} << 18;
constexpr int gzip_window_bits = 15 + 16;  // zlib: 16 added means a gzip wrapper, whose CRC zlib then checks

}  // namespace

bool is_gzip(const input_file& file) {
  unsigned char magic[2] = {};
  return file.read_some(0, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

struct gzip_stream::state {
  explicit state(const input_file& f) : file(f), input(input_bytes) {
    if (inflateInit2(&z, gzip_window_bits) != Z_OK) throw failure(exit_status::ours, "zlib cannot start");
  }
  ~state() { inflateEnd(&z); }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  void restart() {
    inflateReset(&z);
    z.avail_in = 0;
    file_position = position = 0;
    ended = false;
  }

  bool fill() {
    if (z.avail_in > 0) return true;
    const std::size_t got = file.read_some(file_position, input.data(), input.size());
    file_position += got;
    z.next_in = input.data();
    z.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  /// After a member's end: another member, or the end. Anything that is not gzip is ignored, as gzip itself does.
  void next_member() {
    unsigned char magic[2] = {};
    const std::uint64_t next = file_position - z.avail_in;
    if (file.read_some(next, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
      inflateReset(&z);
    } else {
      ended = true;
    }
  }

  std::size_t inflate_some(unsigned char* out, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes && !ended) {
      if (!fill()) {
        throw failure(exit_status::bad_data,
                      fmt::format("{}: the gzip stream stops at file byte {} after {} inflated bytes, expected its end "
                                  "mark; the file is truncated, copy it again",
                                  file.name(), file_position, position + done));
      }
      const std::size_t room = std::min<std::size_t>(bytes - done, std::size_t{1} << 30);
      z.next_out = out + done;
      z.avail_out = static_cast<uInt>(room);
      const int code = inflate(&z, Z_NO_FLUSH);
      done += room - z.avail_out;
      if (code == Z_STREAM_END) {
        next_member();
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        throw failure(exit_status::bad_data,
                      fmt::format("{}: the gzip stream is damaged after {} inflated bytes ({}); copy the file again",
                                  file.name(), position + done, z.msg ? z.msg : "unknown reason"));
      }
    }
    position += done;
    return done;
  }

  const input_file& file;
  std::vector<unsigned char> input;
  z_stream z{};
  std::uint64_t file_position = 0;
  std::uint64_t position = 0;
  bool ended = false;
};

gzip_stream::gzip_stream(const input_file& file) : state_(std::make_unique<state>(file)) {}
gzip_stream::~gzip_stream() = default;
gzip_stream::gzip_stream(gzip_stream&&) noexcept = default;

std::uint64_t gzip_stream::position() const { return state_->position; }

std::size_t gzip_stream::read_some(void* out, std::size_t bytes) {
  return state_->inflate_some(static_cast<unsigned char*>(out), bytes);
}

void gzip_stream::read(void* out, std::size_t bytes) {
  const std::uint64_t expected = position() + bytes;
  if (read_some(out, bytes) == bytes) return;
  throw failure(exit_status::bad_data,
                fmt::format("{}: holds {} inflated bytes, expected at least {}; the image data are "
                            "truncated",
                            state_->file.name(), position(), expected));
}

void gzip_stream::seek(std::uint64_t position) {
  if (position < state_->position) state_->restart();
  std::vector<unsigned char> dropped(std::min<std::uint64_t>(position - state_->position, input_bytes));
  while (state_->position < position) {
    read(dropped.data(), std::min<std::uint64_t>(position - state_->position, dropped.size()));
  }
}

bool gzip_stream::at_end() {
  unsigned char extra = 0;
  return read_some(&extra, 1) == 0;
}

}  // namespace voxherd
