#include "src/io/number_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "core/failure.hpp"
#include "core/plain_text.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t largest_file_bytes = std::uint64_t{16} << 20;
constexpr std::string_view blanks = " \t\v\f", blanks_and_commas = " \t\v\f,";

struct place {
  const std::string& name;
  std::size_t line;

  template <class Found>
  [[noreturn]] void refuse(const Found& found, const char* expected) const {
    refuse_data("{}: line {}: found {}, expected {}", name, line, found, expected);
  }
};

std::string quoted(std::string_view token) {
  constexpr std::size_t longest = 40;
  return fmt::format("\"{}\"", token.substr(0, longest));
}

/// Replaces no-break spaces (U+00A0, inserted by word processors) with spaces.
std::string without_no_break_spaces(std::string text) {
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
  const auto words = split(line, blanks);
  for (std::string_view word : words) {
    if (words.size() > 1 && has_decimal_comma(word)) where.refuse(quoted(word), "a decimal point, not a comma");
    if (word.find(",,") != std::string_view::npos) where.refuse("an empty value between commas", "a number");
    for (const std::string_view token : split(word, ",")) values.push_back(parse_number(token, where));
  }
}

/// MRtrix begins its tables with "# command_history: ...".
bool is_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != line.npos && line[first] == '#';
}

/// Whether a line holds names instead of numbers. "1.2x" is a number with an error, "index" and "nano" are names.
bool begins_with_a_name(std::string_view line) {
  const auto words = split(line, blanks_and_commas);
  if (words.empty()) return false;
  const std::string_view first = words[0];
  double value = 0;
  const auto [end, code] = std::from_chars(first.data(), first.data() + first.size(), value);
  if (code != std::errc{}) return true;
  return std::isalpha(static_cast<unsigned char>(first[0])) != 0 && end != first.data() + first.size();
}

std::string_view trimmed(std::string_view name) {
  constexpr std::string_view margin = " \t\v\f\"'";
  const std::size_t first = name.find_first_not_of(margin);
  return first == name.npos ? "" : name.substr(first, name.find_last_not_of(margin) - first + 1);
}

/// The names of a header line, separated by tabs, else by commas, else by blanks. A column without a name, such as the
/// index that pandas writes, has the name "". A mark of comments (#, %) before the names is no name.
std::vector<std::string> split_names(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" #%");
  if (line.starts_with('#') || line.starts_with('%')) line.remove_prefix(std::min(first, line.size()));
  std::vector<std::string> names;
  const char separator = line.find('\t') != line.npos ? '\t' : ',';
  if (line.find(separator) == line.npos) {
    for (const std::string_view name : split(line, " ")) names.emplace_back(trimmed(name));
    return names;
  }
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    names.emplace_back(trimmed(line.substr(at, end - at)));
    at = end + 1;
  }
  return names;
}

}  // namespace

number_table read_number_table(const std::string& path, header_line header) {
  const std::string text = without_no_break_spaces(read_text_file(path, "a text file of numbers", largest_file_bytes));
  number_table table;
  table.name = path;
  std::size_t line_number = 0;
  for (const std::string& line : split_lines(text)) {
    const place where{table.name, ++line_number};
    if (header == header_line::allowed && table.rows == 0 && begins_with_a_name(line)) {
      table.column_names = split_names(line);
      table.names_are_comment = is_comment(line);
      if (!table.names_are_comment) header = header_line::none;
      continue;
    }
    if (is_comment(line)) continue;
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
    refuse_data("{}: contains no numbers, expected a table of numbers", table.name);
  }
  return table;
}

}  // namespace voxherd
