#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "src/io/gzip/deflate_decoder.hpp"
#include "src/io/gzip/huffman_table.hpp"

namespace voxherd {

namespace {

/// Bytes searched at a time, and bytes beyond them that a check may read: a stored block and the header after it.
constexpr std::size_t searched_bytes = std::size_t{1} << 15, checked_bytes = 65535 + 1024;

std::uint64_t load(const std::uint8_t* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// At least 57 bits starting at `bit`.
std::uint64_t bits_at(const std::uint8_t* data, std::uint64_t bit) { return load(data + bit / 8) >> bit % 8; }

/// Code space used by four lengths of three bits each, in units of 1/128.
constexpr auto spaces_of_four = [] {
  std::array<std::uint16_t, 4096> spaces{};
  for (unsigned four = 0; four < spaces.size(); ++four) {
    for (unsigned shift = 0; shift < 12; shift += 3) {
      const unsigned bits = four >> shift & 7;
      spaces[four] = static_cast<std::uint16_t>(spaces[four] + (bits == 0 ? 0 : 128 >> bits));
    }
  }
  return spaces;
}();

/// Bit mask of 48 candidate bit offsets from `data` on at which a dynamic block's type bits and two valid counts start:
/// at most 286 and 30, that is at most 29 in both five-bit fields.
std::uint64_t possible_dynamic(const std::uint8_t* data) {
  const std::uint64_t word = load(data);
  const auto after = [&](unsigned bits) { return word >> bits; };
  const std::uint64_t type = ~word & ~after(1) & after(2);
  const std::uint64_t many_literals = after(4) & after(5) & after(6) & after(7);
  const std::uint64_t many_distances = after(9) & after(10) & after(11) & after(12);
  return type & ~many_literals & ~many_distances & 0xffffffffffff;
}

/// Checks the rest of a candidate of possible_dynamic().
bool is_dynamic(const std::uint8_t* data, std::uint64_t bit) {
  const std::uint64_t head = bits_at(data, bit);
  const unsigned given = static_cast<unsigned>(head >> 13 & 15) + 4;
  std::uint64_t lengths = bits_at(data, bit + 17) & ((std::uint64_t{1} << 3 * given) - 1);
  unsigned space = 0;
  for (; lengths != 0; lengths >>= 12) space += spaces_of_four[lengths & 4095];
  if (space != 128) return false;
  bit_cursor in{data + bit / 8};
  in.refill();
  in.drop(static_cast<unsigned>(bit % 8) + 3);
  code_lengths found;
  if (!read_code_lengths(in, found) || measure_code_space(found.literal) != code_space::full) return false;
  const code_space distances = measure_code_space(found.distance);
  return distances == code_space::full ||
         (distances == code_space::open && *std::max_element(found.distance.begin(), found.distance.end()) <= 1);
}

/// Whether a valid length of a stored block is at `byte`, which follows the block's type bits.
bool has_stored_length(const std::uint8_t* data, std::size_t byte) {
  const std::uint64_t lengths = load(data + byte);
  return ((lengths ^ lengths >> 16) & 0xffff) == 0xffff;
}

/// Whether a stored block's type bits end at `byte`; zlib pads with zeros.
bool is_stored(const std::uint8_t* data, std::size_t byte) {
  if (!has_stored_length(data, byte)) return false;
  const std::size_t next = byte + 4 + (load(data + byte) & 0xffff);
  const unsigned type = data[next] >> 1 & 3;
  return (type == 0 && has_stored_length(data, next + 1)) ||
         (type == 2 && (possible_dynamic(data + next) & 1) != 0 && is_dynamic(data, 8 * next));
}

bool is_member(const std::uint8_t* at) { return at[0] == 0x1f && at[1] == 0x8b && at[2] == 8 && (at[3] & 0xe0) == 0; }

constexpr std::size_t bytes_at_once = 6;

/// The first candidate within 48 bits from `byte` on, but not before bit `from`; bit offsets are relative to `data`.
std::optional<deflate_decoder::place> first_of_48(const std::uint8_t* data, std::size_t byte, std::uint64_t from) {
  std::optional<deflate_decoder::place> found;
  for (std::uint64_t possible = possible_dynamic(data + byte); possible != 0; possible &= possible - 1) {
    const std::uint64_t bit = 8 * byte + static_cast<unsigned>(std::countr_zero(possible));
    if (bit < from || !is_dynamic(data, bit)) continue;
    found = {bit, false};
    break;
  }
  for (std::size_t at = byte; at < byte + bytes_at_once; ++at) {
    const std::uint64_t stored_bit = 8 * at + 5;
    if (8 * at >= from && (!found || 8 * at < found->bit) && is_member(data + at)) return {{8 * at, true}};
    if (stored_bit >= from && (!found || stored_bit < found->bit) && (data[at] & 0xe0) == 0 && is_stored(data, at + 1))
      return {{stored_bit, false}};
  }
  return found;
}

}  // namespace

std::optional<deflate_decoder::place> find_deflate_block(const input_file& file, std::uint64_t from,
                                                         std::uint64_t end) {
  std::vector<std::uint8_t> data;
  for (std::uint64_t bit = from; bit < end;) {
    const std::uint64_t first = bit / 8, last = std::min((end + 7) / 8, first + searched_bytes);
    data.assign(last - first + checked_bytes, 0);
    data.resize(file.read_some(first, data.data(), data.size()));
    data.resize(last - first + checked_bytes, 0);
    const std::uint64_t stop = std::min(end, 8 * last);
    for (std::uint64_t byte = 0; 8 * (first + byte) < stop; byte += bytes_at_once) {
      const auto found = first_of_48(data.data(), byte, bit - std::min(bit, 8 * first));
      if (found && found->bit + 8 * first < stop)
        return deflate_decoder::place{found->bit + 8 * first, found->before_member};
    }
    bit = stop;
  }
  return std::nullopt;
}

bool is_same_stored_block(const input_file& file, std::uint64_t bit, std::uint64_t other) {
  if ((bit + 3 + 7) / 8 != (other + 3 + 7) / 8) return false;
  const auto is_stored_head = [&](std::uint64_t at) {
    std::uint8_t data[8] = {};
    file.read_some(at / 8, data, sizeof data);
    return (bits_at(data, at % 8) & 7) == 0;
  };
  return is_stored_head(bit) && is_stored_head(other);
}

}  // namespace voxherd
