#include "src/input/deflate_block_finder.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/input/deflate_header.hpp"

namespace voxherd {

namespace {

/// What is searched at a time, and what a guess may look at beyond it: a stored block and a head behind it.
constexpr std::size_t searched_bytes = std::size_t{1} << 15, looked_at_bytes = 65535 + 1024;

std::uint64_t load(const std::uint8_t* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// At least 57 bits from a bit on.
std::uint64_t bits_at(const std::uint8_t* data, std::uint64_t bit) { return load(data + bit / 8) >> bit % 8; }

/// The space that four lengths of three bits use, in 128ths.
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

bool is_dynamic(const std::uint8_t* data, std::uint64_t bit) {
  const std::uint64_t head = bits_at(data, bit);
  if ((head & 7) != 4 || (head >> 3 & 31) > 29 || (head >> 8 & 31) > 29) return false;
  const unsigned given = static_cast<unsigned>(head >> 13 & 15) + 4;
  std::uint64_t lengths = bits_at(data, bit + 17) & ((std::uint64_t{1} << 3 * given) - 1);
  unsigned space = 0;
  for (; lengths != 0; lengths >>= 12) space += spaces_of_four[lengths & 4095];
  if (space != 128) return false;
  bit_cursor in{data + bit / 8};
  in.refill();
  in.drop(static_cast<unsigned>(bit % 8) + 3);
  code_lengths found;
  if (!read_code_lengths(in, found) || space_of(found.literal) != code_space::full) return false;
  const code_space distances = space_of(found.distance);
  return distances == code_space::full ||
         (distances == code_space::open && *std::max_element(found.distance.begin(), found.distance.end()) <= 1);
}

/// Whether the lengths of a stored block stand there; `byte` is behind its head's bits.
bool has_stored_length(const std::uint8_t* data, std::size_t byte) {
  const std::uint64_t lengths = load(data + byte);
  return ((lengths ^ lengths >> 16) & 0xffff) == 0xffff;
}

/// A stored block whose head ends at `byte`; zlib fills up with zeros.
bool is_stored(const std::uint8_t* data, std::size_t byte) {
  if (!has_stored_length(data, byte)) return false;
  const std::size_t next = byte + 4 + (load(data + byte) & 0xffff);
  const unsigned type = data[next] >> 1 & 3;
  return (type == 0 && has_stored_length(data, next + 1)) || (type == 2 && is_dynamic(data, 8 * next));
}

bool is_member(const std::uint8_t* at) { return at[0] == 0x1f && at[1] == 0x8b && at[2] == 8 && (at[3] & 0xe0) == 0; }

}  // namespace

std::optional<deflate_decoder::place> find_deflate_block(const input_file& file, std::uint64_t from,
                                                         std::uint64_t end) {
  std::vector<std::uint8_t> data;
  for (std::uint64_t bit = from; bit < end;) {
    const std::uint64_t first = bit / 8, last = std::min((end + 7) / 8, first + searched_bytes);
    data.assign(last - first + looked_at_bytes, 0);
    data.resize(file.read_some(first, data.data(), data.size()));
    data.resize(last - first + looked_at_bytes, 0);
    for (const std::uint64_t stop = std::min(end, 8 * last); bit < stop; ++bit) {
      const std::uint64_t at = bit - 8 * first;
      if (is_dynamic(data.data(), at)) return deflate_decoder::place{bit, false};
      if (at % 8 == 0 && is_member(data.data() + at / 8)) return deflate_decoder::place{bit, true};
      if (at % 8 == 5 && (data[at / 8] & 0xe0) == 0 && is_stored(data.data(), at / 8 + 1))
        return deflate_decoder::place{bit, false};
    }
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
