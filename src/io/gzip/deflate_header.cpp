#include "src/io/gzip/deflate_header.hpp"

#include <algorithm>

namespace voxherd {

namespace {

constexpr unsigned longest_length_code = 7;
constexpr unsigned length_codes = 19;
/// Order in which the lengths of the code length codes are stored (RFC 1951, 3.2.7).
constexpr std::array<std::uint8_t, length_codes> order = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                          11, 4,  12, 3, 13, 2, 14, 1, 15};

/// symbol << 4 | number of bits, indexed by the next seven bits.
using length_table = std::array<std::uint16_t, 1 << longest_length_code>;

bool fill(const std::array<std::uint8_t, length_codes>& lengths, length_table& table) {
  if (measure_code_space(lengths) != code_space::full) return false;
  std::uint32_t code = 0;
  for (unsigned bits = 1; bits <= longest_length_code; ++bits) {
    for (unsigned s = 0; s < length_codes; ++s) {
      if (lengths[s] != bits) continue;
      for (std::uint32_t at = code; at < table.size(); at += 1U << bits)
        table[at] = static_cast<std::uint16_t>(s << 4 | bits);
      std::uint32_t bit = 1U << (bits - 1);
      for (; (code & bit) != 0; bit >>= 1) code ^= bit;
      code |= bit;
    }
  }
  return true;
}

}  // namespace

bool read_code_lengths(bit_cursor& in, code_lengths& out) {
  in.refill();
  const unsigned literals = in.take(5) + 257, distances = in.take(5) + 1, given = in.take(4) + 4;
  if (literals > 286 || distances > 30) return false;
  std::array<std::uint8_t, length_codes> of_lengths{};
  for (unsigned i = 0; i < given; ++i) {
    if (i % 8 == 0) in.refill();
    of_lengths[order[i]] = static_cast<std::uint8_t>(in.take(3));
  }
  length_table table;
  if (!fill(of_lengths, table)) return false;
  std::array<std::uint8_t, 286 + 30> lengths{};
  const unsigned all = literals + distances;
  for (unsigned i = 0; i < all;) {
    in.refill();
    const std::uint16_t entry = table[in.peek(longest_length_code)];
    in.drop(entry & 15);
    const unsigned symbol = entry >> 4;
    if (symbol < 16) {
      lengths[i++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) return false;
    const std::uint8_t repeated = symbol == 16 ? lengths[i - 1] : 0;
    const unsigned times = symbol == 16 ? 3 + in.take(2) : symbol == 17 ? 3 + in.take(3) : 11 + in.take(7);
    if (times > all - i) return false;
    std::fill_n(lengths.begin() + i, times, repeated);
    i += times;
  }
  if (lengths[256] == 0) return false;
  out = {};
  std::copy_n(lengths.begin(), literals, out.literal.begin());
  std::copy_n(lengths.begin() + literals, distances, out.distance.begin());
  return true;
}

}  // namespace voxherd
