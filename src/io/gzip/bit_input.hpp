#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/io/input_file.hpp"

namespace voxherd {

/// Reads bits in deflate's order, lowest bit of each byte first (RFC 1951, 3.1.1). Does no bounds checks: enough
/// readable bytes must follow `next`.
struct bit_cursor {
  const std::uint8_t* next = nullptr;
  std::uint64_t bits = 0;
  unsigned count = 0;

  /// Loads at least 56 bits. Bits above `count` are already those that follow.
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
  /// Gives back the bytes of which no bit has been taken.
  void unread() {
    next -= count >> 3;
    count &= 7;
    bits &= (std::uint64_t{1} << count) - 1;
  }
};

/// Reads the bits of a file from any bit offset, buffer by buffer.
class bit_input : public bit_cursor {
 public:
  /// Bytes readable from `next` on after fetch(); zeros follow the end of the file.
  static constexpr std::size_t ahead_bytes = 1024;

  bit_input(const input_file& file, std::uint64_t bit, std::size_t bytes_at_once = std::size_t{1} << 17);
  bit_input(bit_input&&) = default;
  bit_input& operator=(bit_input&&) = default;

  /// Bit offset in the file of the next bit.
  std::uint64_t position() const { return 8 * (base_ + static_cast<std::uint64_t>(next - buffer_.data())) - count; }
  /// Whether more bits were taken than the file has.
  bool is_past_end() const { return at_end_ && position() > 8 * end_position(); }
  /// When `next` passes this, call fetch() before taking more bits.
  const std::uint8_t* safe_end() const { return safe_end_; }
  /// Reads more of the file. False if `next` is past the end of the file. Throws failure (disk).
  bool fetch();
  /// Number of file bytes at `next`; call unread() first, so that `count` is 0.
  std::size_t available() const { return static_cast<std::size_t>(data_end_ - next); }

 private:
  std::uint64_t end_position() const { return base_ + static_cast<std::uint64_t>(data_end_ - buffer_.data()); }

  const input_file* file_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t base_;  ///< file offset of the buffer's first byte
  const std::uint8_t* data_end_;
  const std::uint8_t* safe_end_;
  bool at_end_ = false;
};

}  // namespace voxherd
