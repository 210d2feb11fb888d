#pragma once

#include <array>
#include <cstdint>

namespace voxherd {

/// What a look-up in a Huffman table gives, in 32 bits: bits 0 to 7 the bits to drop, extra bits included; 8 to 11 the
/// length of the code alone; 16 to 30 a literal, the base of a length or distance, or where a second table begins.
namespace huffman {
constexpr std::uint32_t literal = 1U << 31;
constexpr std::uint32_t special = 1U << 15;       ///< one of the three that follow
constexpr std::uint32_t second_table = 1U << 14;  ///< bits 8 to 11 say how many bits choose in it
constexpr std::uint32_t end_of_block = 1U << 13;
constexpr std::uint32_t invalid = 1U << 12;
inline unsigned bits_to_drop(std::uint32_t entry) { return entry & 0xff; }
inline unsigned code_bits(std::uint32_t entry) { return entry >> 8 & 15; }
inline unsigned value(std::uint32_t entry) { return entry >> 16 & 0x7fff; }
}  // namespace huffman

/// The lengths (bits, 0 for none) of a block's codes.
struct code_lengths {
  std::array<std::uint8_t, 288> literal{};
  std::array<std::uint8_t, 32> distance{};
};
/// Those of a block with fixed codes (RFC 1951, 3.2.6).
code_lengths fixed_code_lengths();

/// Whether codes of these lengths fill the space of codes: `full`, or leave something open, or are too many.
enum class code_space { open, full, over };
template <std::size_t N>
code_space space_of(const std::array<std::uint8_t, N>& lengths) {
  std::uint32_t used = 0;
  for (const std::uint8_t bits : lengths) used += bits == 0 ? 0 : 0x8000U >> bits;
  return used == 0x8000U ? code_space::full : used < 0x8000U ? code_space::open : code_space::over;
}

/// The two tables of a block. False where the lengths make no code, as zlib judges it: a single code of one bit is one,
/// and so is none for distances.
class huffman_tables {
 public:
  static constexpr unsigned literal_bits = 11, distance_bits = 9;
  bool build(const code_lengths& lengths);
  /// By the next literal_bits, distance_bits of the stream.
  const std::uint32_t* literals() const { return literals_.data(); }
  const std::uint32_t* distances() const { return distances_.data(); }

 private:
  // A second table for each long code at most: 16 entries a literal, 64 a distance.
  std::array<std::uint32_t, (1 << literal_bits) + 288 * 16> literals_;
  std::array<std::uint32_t, (1 << distance_bits) + 32 * 64> distances_;
};

}  // namespace voxherd
