#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/io/input_file.hpp"

namespace voxherd {

/// Bits in deflate's order, the lowest of each byte first (RFC 1951, 3.1.1). Knows no end: what it points to must be
/// followed by enough bytes.
struct bit_cursor {
  const std::uint8_t* next = nullptr;
  std::uint64_t bits = 0;
  unsigned count = 0;

  /// At least 56 bits are there afterwards. What lies above `count` is already what follows.
  void refill() {
    std::uint64_t more;
    std::memcpy(&more, next, sizeof more);
    bits |= more << count;
    next += (63 - count) >> 3;
    count |= 56;
  }
  void drop(unsigned n) {
    bits >>= n;
    count -= n;
  }
  unsigned peek(unsigned n) const { return static_cast<unsigned>(bits & ((std::uint64_t{1} << n) - 1)); }
  unsigned take(unsigned n) {
    const unsigned value = peek(n);
    drop(n);
    return value;
  }
  /// Gives back the bytes that are not begun yet.
  void unread() {
    next -= count >> 3;
    count &= 7;
    bits &= (std::uint64_t{1} << count) - 1;
  }
};

/// The bits of a file from any bit on, read piece by piece.
class bit_input : public bit_cursor {
 public:
  /// What may be read from `next` on after fetch(); zeros follow the file's end.
  static constexpr std::size_t ahead_bytes = 1024;

  bit_input(const input_file& file, std::uint64_t bit, std::size_t bytes_at_once = std::size_t{1} << 17);
  bit_input(bit_input&&) = default;
  bit_input& operator=(bit_input&&) = default;

  /// Bits of the file before the next one.
  std::uint64_t position() const { return 8 * (base_ + static_cast<std::uint64_t>(next - buffer_.data())) - count; }
  /// Whether more was taken than the file has.
  bool is_past_end() const { return at_end_ && position() > 8 * end_position(); }
  /// Beyond it fetch() is due before the next few bits are taken.
  const std::uint8_t* safe_end() const { return safe_end_; }
  /// Throws failure (disk). False where `next` has gone past the end of the file.
  bool fetch();
  /// Bytes at `next` that are the file's, after unread() with count 0.
  std::size_t available() const { return static_cast<std::size_t>(data_end_ - next); }

 private:
  std::uint64_t end_position() const { return base_ + static_cast<std::uint64_t>(data_end_ - buffer_.data()); }

  const input_file* file_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t base_;  ///< the file's byte at the buffer's front
  const std::uint8_t* data_end_;
  const std::uint8_t* safe_end_;
  bool at_end_ = false;
};

}  // namespace voxherd
