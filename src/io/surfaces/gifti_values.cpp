#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/failure.hpp"
#include "src/io/surfaces/gifti_file.hpp"

namespace voxherd {

namespace {

static_assert(std::endian::native == std::endian::little, "values are stored in native byte order");

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Deflate expands one byte to at most 1032 bytes (zlib's technical notes).
constexpr std::uint64_t max_deflate_ratio = 1032;

using text_form = gifti_coding::text_form;

std::uint64_t value_bytes(const gifti_array& array) { return array.rows * array.columns * element_bytes(array.type); }

[[noreturn]] void refuse_values(const std::string& where, const std::string& found, const gifti_array& array,
                                const char* unit) {
  refuse_data("{}: has {}, expected {} {} for {} x {} values", where, found,
              std::string_view(unit) == "bytes" ? value_bytes(array) : array.rows * array.columns, unit, array.rows,
              array.columns);
}

std::vector<std::byte> decode_base64(std::string_view text, const std::string& where) {
  static const auto digits = [] {
    std::array<std::int8_t, 256> table{};
    table.fill(-1);
    for (std::size_t i = 0; i < base64_digits.size(); ++i)
      table[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::int8_t>(i);
    return table;
  }();
  while (text.ends_with('=')) text.remove_suffix(1);
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int held = 0;  // bits
  for (const char c : text) {
    const int digit = digits[static_cast<unsigned char>(c)];
    if (digit < 0) refuse_data("{}: <Data> has the character \"{}\", expected base64", where, std::string(1, c));
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> held & 0xff));
  }
  return bytes;
}

std::string encode_base64(const std::vector<std::byte>& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? base64_digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// Inflates a zlib or gzip stream of exactly the array's size.
void inflate_values(gifti_array& array, std::vector<std::byte> stored, const std::string& where) {
  const std::uint64_t expected = value_bytes(array);
  if (expected / max_deflate_ratio > stored.size())
    refuse_values(where, fmt::format("{} compressed bytes", stored.size()), array, "bytes");
  array.values.resize(expected + 1);  // one more, to see whether there are more
  z_stream z{};
  constexpr int zlib_or_gzip = 15 + 32;
  inflateInit2(&z, zlib_or_gzip);
  z.next_in = reinterpret_cast<Bytef*>(stored.data());
  z.next_out = reinterpret_cast<Bytef*>(array.values.data());
  std::uint64_t taken = 0, made = 0;
  int code = Z_OK;
  while (code == Z_OK && made < array.values.size()) {
    constexpr std::uint64_t max_at_once = std::uint64_t{1} << 30;
    const auto in = static_cast<uInt>(std::min(max_at_once, stored.size() - taken));
    const auto out = static_cast<uInt>(std::min(max_at_once, array.values.size() - made));
    z.avail_in = in;
    z.avail_out = out;
    code = inflate(&z, Z_NO_FLUSH);
    taken += in - z.avail_in;
    made += out - z.avail_out;
  }
  inflateEnd(&z);
  if (code != Z_STREAM_END && made <= expected)
    refuse_data("{}: the compressed <Data> is damaged or truncated after {} bytes", where, made);
  if (made != expected)
    refuse_values(where, made < expected ? fmt::format("{} bytes", made) : "more bytes", array, "bytes");
  array.values.resize(expected);
}

template <class T>
T convert_number(double value, std::string_view token, const std::string& where) {
  if constexpr (std::is_integral_v<T>) {
    if (value != std::floor(value) || value < static_cast<double>(std::numeric_limits<T>::lowest()) ||
        value > static_cast<double>(std::numeric_limits<T>::max()))
      refuse_data("{}: <Data> has \"{}\", expected an integer of its DataType", where, token.substr(0, 40));
  }
  return static_cast<T>(value);
}

template <class T>
void parse_decimals(gifti_array& array, std::string_view text, const std::string& where) {
  const std::uint64_t count = array.rows * array.columns;
  if (text.size() / 2 + 1 < count)
    refuse_values(where, fmt::format("a text of {} bytes", text.size()), array, "numbers");
  std::vector<T> numbers;
  numbers.reserve(count);
  constexpr std::string_view blanks = " \t\r\n";
  for (std::size_t at = text.find_first_not_of(blanks); at != text.npos; at = text.find_first_not_of(blanks, at)) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    std::string_view token = text.substr(at, end - at);
    at = end;
    if (numbers.size() == count) refuse_values(where, "more numbers", array, "numbers");
    double value = 0;
    const std::size_t plus = token.size() > 1 && token[0] == '+' ? 1 : 0;
    const auto [last, code] = std::from_chars(token.data() + plus, token.data() + token.size(), value);
    if (code != std::errc{} || last != token.data() + token.size())
      refuse_data("{}: number {} is \"{}\", expected a number", where, numbers.size() + 1, token.substr(0, 40));
    numbers.push_back(convert_number<T>(value, token, where));
  }
  if (numbers.size() != count) refuse_values(where, fmt::format("{} numbers", numbers.size()), array, "numbers");
  array.values.resize(value_bytes(array));
  std::memcpy(array.values.data(), numbers.data(), array.values.size());
}

void parse_decimals(gifti_array& array, std::string_view text, const std::string& where) {
  switch (array.type) {
    case element_type::uint8:
      return parse_decimals<std::uint8_t>(array, text, where);
    case element_type::int32:
      return parse_decimals<std::int32_t>(array, text, where);
    case element_type::float64:
      return parse_decimals<double>(array, text, where);
    default:
      return parse_decimals<float>(array, text, where);
  }
}

void swap_bytes(gifti_array& array) {
  const std::size_t size = element_bytes(array.type);
  for (std::size_t i = 0; i < array.values.size(); i += size) std::reverse(&array.values[i], &array.values[i] + size);
}

void order_by_row(gifti_array& array) {
  const std::vector<std::byte> columns = array.values;
  const std::size_t size = element_bytes(array.type);
  for (std::uint64_t r = 0; r < array.rows; ++r)
    for (std::uint64_t c = 0; c < array.columns; ++c)
      std::memcpy(&array.values[(r * array.columns + c) * size], &columns[(c * array.rows + r) * size], size);
}

template <class T>
std::vector<double> numbers_of(const gifti_array& array) {
  std::vector<double> numbers(array.rows * array.columns);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::memcpy(&value, &array.values[i * sizeof(T)], sizeof(T));
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

}  // namespace

std::vector<double> gifti_array::numbers() const {
  switch (type) {
    case element_type::uint8:
      return numbers_of<std::uint8_t>(*this);
    case element_type::int32:
      return numbers_of<std::int32_t>(*this);
    case element_type::float64:
      return numbers_of<double>(*this);
    default:
      return numbers_of<float>(*this);
  }
}

std::uint64_t max_text_bytes(const gifti_array& array, const gifti_coding& coding) {
  constexpr std::uint64_t decimal_bytes = 64, spare = 1024;
  if (coding.form == text_form::decimal) return array.rows * array.columns * decimal_bytes + spare;
  // Deflate stores what it cannot compress, with 5 bytes per 16 KB.
  return value_bytes(array) / 3 * 4 + value_bytes(array) / 1000 + spare;
}

void decode_values(gifti_array& array, const gifti_coding& coding, std::string_view text, const std::string& where) {
  if (coding.form == text_form::decimal) {
    parse_decimals(array, text, where);
  } else if (coding.form == text_form::base64) {
    array.values = decode_base64(text, where);
    if (array.values.size() != value_bytes(array))
      refuse_values(where, fmt::format("{} bytes", array.values.size()), array, "bytes");
  } else {
    inflate_values(array, decode_base64(text, where), where);
  }
  if (coding.form != text_form::decimal && coding.is_big_endian) swap_bytes(array);
  if (coding.by_column && array.columns > 1) order_by_row(array);
}

std::string encode_values(const gifti_array& array) {
  uLongf bytes = compressBound(array.values.size());
  std::vector<std::byte> stored(bytes);
  compress(reinterpret_cast<Bytef*>(stored.data()), &bytes, reinterpret_cast<const Bytef*>(array.values.data()),
           array.values.size());
  stored.resize(bytes);
  return encode_base64(stored);
}

}  // namespace voxherd
