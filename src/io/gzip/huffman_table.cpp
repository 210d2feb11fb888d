#include "src/io/gzip/huffman_table.hpp"

#include <algorithm>
#include <bit>

namespace voxherd {

// bit_cursor::refill() loads eight bytes as one number.
static_assert(std::endian::native == std::endian::little);

namespace {

/// Zeros after the end of the file: a complete block header may be read from them before the end is detected.
constexpr std::size_t spare_bytes = 2 * bit_input::ahead_bytes;
constexpr std::size_t past_end_bytes = 64;

}  // namespace

bit_input::bit_input(const input_file& file, std::uint64_t bit, std::size_t bytes_at_once)
    : file_(&file), buffer_(2 * ahead_bytes + bytes_at_once + spare_bytes), base_(bit / 8) {
  next = data_end_ = buffer_.data();
  safe_end_ = nullptr;
  fetch();
  refill();
  drop(static_cast<unsigned>(bit % 8));
}

bool bit_input::fetch() {
  unread();
  if (safe_end_ != nullptr && next <= safe_end_) return true;
  if (at_end_) return false;
  const std::size_t left = static_cast<std::size_t>(data_end_ - next);
  base_ += static_cast<std::uint64_t>(next - buffer_.data());
  std::memmove(buffer_.data(), next, left);
  const std::size_t room = buffer_.size() - spare_bytes - left;
  const std::size_t got = file_->read_some(base_ + left, buffer_.data() + left, room);
  next = buffer_.data();
  data_end_ = next + left + got;
  at_end_ = got < room;
  std::memset(buffer_.data() + left + got, 0, spare_bytes);
  safe_end_ = at_end_ ? data_end_ + past_end_bytes : data_end_ - ahead_bytes;
  return true;
}

namespace {

constexpr unsigned longest_code = 15;
constexpr std::uint32_t no_code = huffman::special | huffman::invalid;

/// Entries without the code length: base value and extra bits of length symbols 257 to 285 (RFC 1951, 3.2.5).
std::array<std::uint32_t, 288> literal_entries() {
  std::array<std::uint32_t, 288> entries{};
  for (std::uint32_t s = 0; s < 256; ++s) entries[s] = huffman::literal | s << 16;
  entries[256] = huffman::special | huffman::end_of_block;
  std::uint32_t base = 3;
  for (std::uint32_t s = 257; s < 285; ++s) {
    const std::uint32_t extra = s < 265 ? 0 : (s - 261) / 4;
    entries[s] = base << 16 | extra;
    base += 1U << extra;
  }
  entries[285] = 258U << 16;
  entries[286] = entries[287] = no_code;
  return entries;
}

std::array<std::uint32_t, 32> distance_entries() {
  std::array<std::uint32_t, 32> entries{};
  std::uint32_t base = 1;
  for (std::uint32_t s = 0; s < 30; ++s) {
    const std::uint32_t extra = s < 4 ? 0 : s / 2 - 1;
    entries[s] = base << 16 | extra;
    base += 1U << extra;
  }
  entries[30] = entries[31] = no_code;
  return entries;
}

/// The next code of the same length, bits reversed as they appear in the stream.
std::uint32_t next_reversed(std::uint32_t code, unsigned length) {
  std::uint32_t bit = 1U << (length - 1);
  for (; (code & bit) != 0; bit >>= 1) code ^= bit;
  return code | bit;
}

/// Fills a table indexed by `bits` bits; longer codes continue in second tables after it, all of the same size.
template <std::size_t N>
void fill(const std::array<std::uint8_t, N>& lengths, const std::array<std::uint32_t, N>& entries, unsigned bits,
          bool is_full, std::uint32_t* table) {
  std::array<std::uint16_t, longest_code + 2> first{};
  for (const std::uint8_t length : lengths) ++first[length + 1U];
  first[1] = 0;
  for (unsigned length = 1; length <= longest_code; ++length)
    first[length + 1] = static_cast<std::uint16_t>(first[length + 1] + first[length]);
  std::array<std::uint16_t, N> sorted;
  auto place = first;
  unsigned longest = 0;
  for (std::size_t s = 0; s < N; ++s) {
    if (lengths[s] == 0) continue;
    sorted[place[lengths[s]]++] = static_cast<std::uint16_t>(s);
    longest = std::max<unsigned>(longest, lengths[s]);
  }
  const std::uint32_t size = 1U << bits;
  if (!is_full) std::fill_n(table, size, no_code);
  const unsigned more = longest > bits ? longest - bits : 0;
  std::uint32_t end = size, code = 0, prefix = size;
  for (std::size_t i = 0; i < first[longest + 1]; ++i) {
    const std::size_t s = sorted[i];
    const std::uint32_t length = lengths[s];
    if (length <= bits) {
      const std::uint32_t entry = entries[s] + (length << 8 | length);
      for (std::uint32_t at = code; at < size; at += 1U << length) table[at] = entry;
    } else {
      if ((code & (size - 1)) != prefix) {
        prefix = code & (size - 1);
        table[prefix] = huffman::special | huffman::second_table | end << 16 | more << 8 | bits;
        end += 1U << more;
        if (!is_full) std::fill_n(table + end - (1U << more), 1U << more, no_code);
      }
      const std::uint32_t rest = length - bits, entry = entries[s] + (rest << 8 | rest);
      std::uint32_t* const second = table + end - (1U << more);
      for (std::uint32_t at = code >> bits; at < 1U << more; at += 1U << rest) second[at] = entry;
    }
    code = next_reversed(code, length);
  }
}

template <std::size_t N>
bool is_code(const std::array<std::uint8_t, N>& lengths, code_space space, std::uint8_t longest_if_open) {
  return space == code_space::full ||
         (space == code_space::open && *std::max_element(lengths.begin(), lengths.end()) <= longest_if_open);
}

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

code_lengths fixed_code_lengths() {
  code_lengths lengths;
  std::fill_n(lengths.literal.begin(), 144, std::uint8_t{8});
  std::fill_n(lengths.literal.begin() + 144, 112, std::uint8_t{9});
  std::fill_n(lengths.literal.begin() + 256, 24, std::uint8_t{7});
  std::fill_n(lengths.literal.begin() + 280, 8, std::uint8_t{8});
  lengths.distance.fill(5);
  return lengths;
}

bool huffman_tables::build(const code_lengths& lengths) {
  static const auto of_literals = literal_entries();
  static const auto of_distances = distance_entries();
  const code_space literal_space = measure_code_space(lengths.literal),
                   distance_space = measure_code_space(lengths.distance);
  if (!is_code(lengths.literal, literal_space, 1) || !is_code(lengths.distance, distance_space, 1)) return false;
  fill(lengths.literal, of_literals, literal_bits, literal_space == code_space::full, literals_.data());
  fill(lengths.distance, of_distances, distance_bits, distance_space == code_space::full, distances_.data());
  return true;
}

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
