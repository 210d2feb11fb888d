#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/io/gzip/deflate_decoder.hpp"

namespace voxherd {

/// Symbols of 16 bits: a byte, or a mark for one of the 32 KiB before the place where decoding began, the farthest
/// being 0x8000 (Kerbiriou and Chikhi 2019; Knespel and Brunst 2023).
constexpr std::uint16_t first_mark = 0x8000;
static_assert(first_mark + deflate_window == 0x10000);

/// All marks in order: what is decoded behind them refers to them as if they were the bytes.
void write_marks(std::uint16_t* window);

/// Whether any of `count` symbols is a mark.
bool has_marks(const std::uint16_t* symbols, std::size_t count);
/// The same for marks of bytes that are not there, where only `known` bytes lie before.
bool has_marks_before(const std::uint16_t* symbols, std::size_t count, std::size_t known);

/// Puts bytes in place of symbols.
class mark_replacer {
 public:
  /// `window` are the 32 KiB before.
  explicit mark_replacer(const std::uint8_t* window);
  void replace(const std::uint16_t* symbols, std::size_t count, std::uint8_t* out) const;

 private:
  std::vector<std::uint8_t> bytes_;  ///< of each symbol
};

}  // namespace voxherd
