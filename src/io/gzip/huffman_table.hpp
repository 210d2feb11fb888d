#pragma once

#include <array>
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

/// Entry of a Huffman table, 32 bits. Bits 0 to 7: number of bits to drop, including extra bits. Bits 8 to 11: code
/// length without extra bits. Bits 16 to 30: a literal, the base of a length or distance, or the offset of a second
/// table.
namespace huffman {
constexpr std::uint32_t literal = 1U << 31;
constexpr std::uint32_t special = 1U << 15;       ///< one of the three entries below
constexpr std::uint32_t second_table = 1U << 14;  ///< bits 8 to 11: number of bits that index it
constexpr std::uint32_t end_of_block = 1U << 13;
constexpr std::uint32_t invalid = 1U << 12;
inline unsigned bits_to_drop(std::uint32_t entry) { return entry & 0xff; }
inline unsigned code_bits(std::uint32_t entry) { return entry >> 8 & 15; }
inline unsigned value(std::uint32_t entry) { return entry >> 16 & 0x7fff; }
}  // namespace huffman

/// Code lengths of a block in bits; 0 for an unused code.
struct code_lengths {
  std::array<std::uint8_t, 288> literal{};
  std::array<std::uint8_t, 32> distance{};
};
/// The lengths in a block with fixed codes (RFC 1951, 3.2.6).
code_lengths fixed_code_lengths();

/// Whether codes of these lengths fill the code space exactly, leave part of it open, or exceed it.
enum class code_space { open, full, over };
template <std::size_t N>
code_space measure_code_space(const std::array<std::uint8_t, N>& lengths) {
  std::uint32_t used = 0;
  for (const std::uint8_t bits : lengths) used += bits == 0 ? 0 : 0x8000U >> bits;
  return used == 0x8000U ? code_space::full : used < 0x8000U ? code_space::open : code_space::over;
}

/// The two tables of a block. build() is false if the lengths do not form a code by zlib's rules, which accept a single
/// code of one bit and no distance codes at all.
class huffman_tables {
 public:
  static constexpr unsigned literal_bits = 11, distance_bits = 9;
  bool build(const code_lengths& lengths);
  /// Indexed by the next literal_bits or distance_bits of the stream.
  const std::uint32_t* literals() const { return literals_.data(); }
  const std::uint32_t* distances() const { return distances_.data(); }

 private:
  // At most one second table per long code: 16 entries per literal, 64 per distance.
  std::array<std::uint32_t, (1 << literal_bits) + 288 * 16> literals_;
  std::array<std::uint32_t, (1 << distance_bits) + 32 * 64> distances_;
};

/// Maximum size of the header of a block with dynamic codes: 17 bits, 19 lengths of 3 bits, 316 of at most 14.
constexpr std::size_t max_block_header_bytes = 563;

enum class block_type { stored = 0, fixed = 1, dynamic = 2, reserved = 3 };

/// Reads the code lengths of a block with dynamic codes, after its three type bits (RFC 1951, 3.2.7). False if they
/// break a rule that zlib checks. Reads at most max_block_header_bytes.
bool read_code_lengths(bit_cursor& in, code_lengths& out);

}  // namespace voxherd
