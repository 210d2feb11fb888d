#include "src/io/gzip/gzip.hpp"

#include <algorithm>
#include <vector>

#include "core/failure.hpp"
#include "src/io/gzip/member_inflater.hpp"

namespace voxherd {

namespace {

/// Bytes discarded at a time by seek().
constexpr std::size_t dropped_bytes = std::size_t{1} << 18;
/// The libraries count in 32 bits.
constexpr std::size_t max_at_once = std::size_t{1} << 30;

}  // namespace

bool is_gzip(const input_file& file) {
  unsigned char magic[2] = {};
  return file.read_some(0, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

struct gzip_stream::state {
  state(const input_file& f, std::size_t input_bytes) : file(f), input(input_bytes) {}

  void restart() {
    inflater.set_input(input.data(), 0);
    inflater.begin();
    file_position = position = 0;
    ended = false;
  }

  /// Reads more of the file; the previous input must have been used up.
  void fill() {
    const std::size_t got = file.read_some(file_position, input.data(), input.size());
    if (got == 0) {
      refuse_data(
          "{}: the gzip stream stops at file byte {} after {} inflated bytes, expected its end mark; the file is "
          "truncated, copy it again",
          file.name(), file_position, position);
    }
    file_position += got;
    inflater.set_input(input.data(), got);
  }

  std::uint64_t members_end() const { return file_position - inflater.unused_input(); }

  /// After the end of a member: starts the next one, or ends. Trailing data that are not gzip are ignored, as gzip
  /// does.
  void next_member() {
    unsigned char magic[2] = {};
    if (file.read_some(members_end(), magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
      inflater.begin();
    } else {
      ended = true;
    }
  }

  void check() const {
    const char* damage = inflater.damage();
    if (damage == nullptr) return;
    refuse_data("{}: the gzip stream is damaged after {} inflated bytes ({}); copy the file again", file.name(),
                position, damage);
  }

  std::size_t inflate_some(unsigned char* out, std::size_t bytes) {
    const std::uint64_t end = position + bytes, start = position;
    while (position < end && !ended) {
      const std::size_t room = std::min<std::uint64_t>(end - position, max_at_once);
      const std::size_t written = inflater.inflate(out + (position - start), room);
      position += written;
      check();
      if (inflater.is_complete()) {
        next_member();
      } else if (inflater.unused_input() == 0 && written < room) {
        fill();
      }
    }
    return position - start;
  }

  const input_file& file;
  std::vector<unsigned char> input;
  member_inflater inflater;
  std::uint64_t file_position = 0;
  std::uint64_t position = 0;
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
  refuse_data("{}: contains {} inflated bytes, expected at least {}; the image data are truncated", state_->file.name(),
              position(), expected);
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
  const std::uint64_t end = state_->members_end(), size = state_->file.size();
  return state_->ended && size > end ? size - end : 0;
}

}  // namespace voxherd
