#include "src/io/number_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t largest_file_bytes = std::uint64_t{16} << 20;

struct place {
  const std::string& name;
  std::size_t line;

  template <class Found>
  [[noreturn]] void refuse(const Found& found, const char* expected) const {
    throw failure(exit_status::bad_data,
                  fmt::format("{}: line {}: found {}, expected {}", name, line, found, expected));
  }
};

std::string quoted(std::string_view token) {
  constexpr std::size_t longest = 40;
  return fmt::format("\"{}\"", printable(std::string(token.substr(0, longest))));
}

/// Removes the byte order mark and replaces no-break spaces (U+00A0, inserted by word processors) with spaces.
std::string plain_text(std::string text) {
  if (text.rfind("\xef\xbb\xbf", 0) == 0) text.erase(0, 3);
  for (std::size_t at = text.find("\xc2\xa0"); at != std::string::npos; at = text.find("\xc2\xa0", at)) {
    text[at] = text[at + 1] = ' ';
  }
  return text;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return parts;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether `word` is a number with a decimal comma such as "0,5", not two values; only asked in lines of several words.
bool has_decimal_comma(std::string_view word) {
  if (word.front() == '-' || word.front() == '+') word.remove_prefix(1);
  const std::size_t comma = word.find(',');
  if (comma == std::string_view::npos) return false;
  const std::string_view after = word.substr(comma + 1);
  return is_digits(word.substr(0, comma)) && is_digits(after.substr(0, after.find_first_of("eE")));
}

double parse_number(std::string_view token, const place& where) {
  std::string_view digits = token;
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range) where.refuse(quoted(token), "a number that fits a double");
  if (code != std::errc{} || end != digits.data() + digits.size()) where.refuse(quoted(token), "a number");
  return value;
}

void parse_line(std::string_view line, const place& where, std::vector<double>& values) {
  const auto words = split(line, " \t\v\f\r");
  for (std::string_view word : words) {
    if (words.size() > 1 && has_decimal_comma(word)) where.refuse(quoted(word), "a decimal point, not a comma");
    if (word.find(",,") != std::string_view::npos) where.refuse("an empty value between commas", "a number");
    for (const std::string_view token : split(word, ",")) values.push_back(parse_number(token, where));
  }
}

bool begins_with_a_name(std::string_view line) {
  const auto words = split(line, " \t\v\f\r,");
  if (words.empty()) return false;
  double value = 0;
  return std::from_chars(words[0].data(), words[0].data() + words[0].size(), value).ec != std::errc{};
}

std::string read_text(const std::string& path) {
  const input_file file(path);
  if (file.size() > largest_file_bytes) {
    throw failure(exit_status::bad_data,
                  fmt::format("{}: is {} bytes long, expected a text file of numbers (at most {})", file.name(),
                              file.size(), largest_file_bytes));
  }
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  if (text.find('\0') != std::string::npos) {
    throw failure(exit_status::bad_data,
                  fmt::format("{}: contains binary data, expected a text file of numbers", file.name()));
  }
  return text;
}

}  // namespace

number_table read_number_table(const std::string& path, header_line header) {
  const std::string text = plain_text(read_text(path));
  number_table table;
  table.name = printable(path);
  std::size_t line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    // Classic Mac OS files end lines with CR only.
    const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
    const std::string_view line(text.data() + at, end - at);
    at = end + (text.compare(end, 2, "\r\n") == 0 ? 2 : 1);
    const place where{table.name, ++line_number};
    if (header == header_line::allowed && table.rows == 0 && begins_with_a_name(line)) {
      header = header_line::none;
      continue;
    }
    const std::size_t before = table.values.size();
    parse_line(line, where, table.values);
    const std::size_t found = table.values.size() - before;
    if (found == 0) continue;
    if (table.rows > 0 && found != table.columns) {
      where.refuse(fmt::format("{} values", found),
                   fmt::format("{} as in line {}", table.columns, table.row_line.front()).c_str());
    }
    table.columns = found;
    table.row_line.push_back(line_number);
    ++table.rows;
  }
  if (table.rows == 0) {
    throw failure(exit_status::bad_data,
                  fmt::format("{}: contains no numbers, expected a table of numbers", table.name));
  }
  return table;
}

}  // namespace voxherd
