#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/io/gzip/deflate_decoder.hpp"

namespace voxherd {

/// A 16-bit symbol is either a byte or a mark: a reference to one of the 32 KiB before the start of decoding, 0x8000
/// for the most distant (Kerbiriou and Chikhi 2019; Knespel and Brunst 2023).
constexpr std::uint16_t first_mark = 0x8000;
static_assert(first_mark + deflate_window == 0x10000);

/// Writes all marks in order, so that matches copy them as if they were the unknown bytes.
void write_marks(std::uint16_t* window);

/// Whether any of `count` symbols is a mark.
bool has_marks(const std::uint16_t* symbols, std::size_t count);
/// Whether any of `count` symbols is a mark of a byte before the last `known` bytes of the window.
bool has_marks_before(const std::uint16_t* symbols, std::size_t count, std::size_t known);

/// Replaces symbols by bytes.
class mark_replacer {
 public:
  /// `window`: the 32 KiB before the symbols.
  explicit mark_replacer(const std::uint8_t* window);
  void replace(const std::uint16_t* symbols, std::size_t count, std::uint8_t* out) const;

 private:
  std::vector<std::uint8_t> bytes_;  ///< indexed by symbol
};

}  // namespace voxherd
