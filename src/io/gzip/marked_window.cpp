#include "src/io/gzip/marked_window.hpp"

#include <algorithm>
#include <numeric>

namespace voxherd {

namespace {

/// Symbols processed together; the compiler vectorises over them.
constexpr std::size_t block = 32;

std::uint16_t all_of(const std::uint16_t* symbols) {
  std::uint16_t any = 0;
  for (std::size_t i = 0; i < block; ++i) any |= symbols[i];
  return any;
}

}  // namespace

void write_marks(std::uint16_t* window) {
  for (std::size_t i = 0; i < deflate_window; ++i) window[i] = static_cast<std::uint16_t>(first_mark + i);
}

bool has_marks(const std::uint16_t* symbols, std::size_t count) {
  // From the end: marks are most likely there.
  for (; count >= block; count -= block) {
    if (all_of(symbols + count - block) >= first_mark) return true;
  }
  return std::any_of(symbols, symbols + count, [](std::uint16_t s) { return s >= first_mark; });
}

bool has_marks_before(const std::uint16_t* symbols, std::size_t count, std::size_t known) {
  const std::size_t first_known = first_mark + deflate_window - known;
  return std::any_of(symbols, symbols + count, [&](std::uint16_t s) { return s >= first_mark && s < first_known; });
}

mark_replacer::mark_replacer(const std::uint8_t* window) : bytes_(0x10000) {
  std::iota(bytes_.begin(), bytes_.begin() + 256, std::uint8_t{0});
  std::copy_n(window, deflate_window, bytes_.begin() + first_mark);
}

void mark_replacer::replace(const std::uint16_t* symbols, std::size_t count, std::uint8_t* out) const {
  const std::uint8_t* const byte_of = bytes_.data();
  std::size_t i = 0;
  for (; i + block <= count; i += block) {
    const std::uint16_t* const from = symbols + i;
    std::uint8_t* const to = out + i;
    if (all_of(from) < first_mark) {
      for (std::size_t k = 0; k < block; ++k) to[k] = static_cast<std::uint8_t>(from[k]);
    } else {
#pragma GCC unroll 8
      for (std::size_t k = 0; k < block; ++k) to[k] = byte_of[from[k]];
    }
  }
  for (; i < count; ++i) out[i] = byte_of[symbols[i]];
}

}  // namespace voxherd
