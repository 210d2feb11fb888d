#include "src/io/gzip/gzip.hpp"

#include <fmt/core.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <vector>

#include "core/failure.hpp"

namespace voxherd {

namespace {

/// Bytes discarded at a time by seek().
constexpr std::size_t dropped_bytes = std::size_t{1} << 18;
/// igzip counts in 32 bits.
constexpr std::size_t max_at_once = std::size_t{1} << 30;

const char* describe_error(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_SYMBOL:
      return "invalid symbol";
    case ISAL_INVALID_LOOKBACK:
      return "distance too far back";
    case ISAL_INVALID_WRAPPER:
      return "not a gzip header";
    case ISAL_UNSUPPORTED_METHOD:
      return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
      return "wrong checksum or length";
    default:
      return "unknown reason";
  }
}

}  // namespace

bool is_gzip(const input_file& file) {
  unsigned char magic[2] = {};
  return file.read_some(0, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

struct gzip_stream::state {
  state(const input_file& f, std::size_t input_bytes) : file(f), input(input_bytes) {
    isal_inflate_init(&z);
    begin_member();
  }

  void restart() {
    begin_member();
    z.avail_in = 0;
    file_position = position = 0;
    ended = false;
  }

  void begin_member() {
    isal_inflate_reset(&z);
    z.crc_flag = ISAL_GZIP;
    isal_gzip_header_init(&header);
    in_header = true;
  }

  /// Reads more of the file; the previous input must have been used up.
  void fill() {
    const std::size_t got = file.read_some(file_position, input.data(), input.size());
    if (got == 0) {
      throw failure(exit_status::bad_data,
                    fmt::format("{}: the gzip stream stops at file byte {} after {} inflated bytes, expected its end "
                                "mark; the file is truncated, copy it again",
                                file.name(), file_position, position));
    }
    file_position += got;
    z.next_in = input.data();
    z.avail_in = static_cast<std::uint32_t>(got);
  }

  /// After the end of a member: starts the next one, or ends. Trailing data that are not gzip are ignored, as gzip
  /// does.
  void next_member() {
    unsigned char magic[2] = {};
    const std::uint64_t next = file_position - z.avail_in;
    if (file.read_some(next, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
      begin_member();
    } else {
      ended = true;
    }
  }

  void check(int code) const {
    if (code >= 0) return;
    throw failure(exit_status::bad_data,
                  fmt::format("{}: the gzip stream is damaged after {} inflated bytes ({}); copy the file again",
                              file.name(), position, describe_error(code)));
  }

  /// Inflating would also read the header, but loses its position if the input ends within it.
  void read_header() {
    const int code = isal_read_gzip_header(&z, &header);
    check(code);
    in_header = code != ISAL_DECOMP_OK;
  }

  std::size_t inflate_some(unsigned char* out, std::size_t bytes) {
    const std::uint64_t end = position + bytes, start = position;
    while (position < end && !ended) {
      if (in_header) {
        if (z.avail_in == 0) fill();
        read_header();
        continue;
      }
      const std::size_t room = std::min<std::uint64_t>(end - position, max_at_once);
      z.next_out = out + (position - start);
      z.avail_out = static_cast<std::uint32_t>(room);
      const std::uint32_t unread = z.avail_in;
      const int code = isal_inflate(&z);
      position += room - z.avail_out;
      check(code);
      if (z.block_state == ISAL_BLOCK_FINISH) {
        next_member();
      } else if (z.avail_in == 0 && z.avail_out > 0) {
        fill();
      } else if (z.avail_out == room && z.avail_in == unread) {
        check(ISAL_INVALID_BLOCK);  // neither reads nor writes; would loop forever
      }
    }
    return position - start;
  }

  const input_file& file;
  std::vector<unsigned char> input;
  inflate_state z{};
  isal_gzip_header header{};
  std::uint64_t file_position = 0;
  std::uint64_t position = 0;
  bool in_header = true;
  bool ended = false;
};

gzip_stream::gzip_stream(const input_file& file, std::size_t input_bytes)
    : state_(std::make_unique<state>(file, input_bytes)) {}
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
                fmt::format("{}: contains {} inflated bytes, expected at least {}; the image data are "
                            "truncated",
                            state_->file.name(), position(), expected));
}

void gzip_stream::seek(std::uint64_t position) {
  if (position < state_->position) state_->restart();
  std::vector<unsigned char> dropped(std::min<std::uint64_t>(position - state_->position, dropped_bytes));
  while (state_->position < position) {
    read(dropped.data(), std::min<std::uint64_t>(position - state_->position, dropped.size()));
  }
}

std::uint64_t gzip_stream::finish() {
  const std::uint64_t start = position();
  std::vector<unsigned char> dropped(dropped_bytes);
  while (read_some(dropped.data(), dropped.size()) == dropped.size()) continue;
  return position() - start;
}

std::uint64_t gzip_stream::bytes_after_members() const {
  const std::uint64_t end = state_->file_position - state_->z.avail_in, size = state_->file.size();
  return state_->ended && size > end ? size - end : 0;
}

}  // namespace voxherd
