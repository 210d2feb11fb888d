#include "src/scan/region_names.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t max_bytes = 16 << 20;
constexpr std::size_t longest_quote = 40;

struct named_label {
  std::int32_t label;
  std::string name;
};

std::string read_text(const std::string& path) {
  const input_file file(path);
  if (file.size() > max_bytes)
    throw failure(
        exit_status::bad_data,
        fmt::format("{}: has {} bytes, expected a text with one label and name per line", file.name(), file.size()));
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  return text;
}

/// The first two columns of a line.
std::vector<std::string> first_columns(const std::string& line, const char* separators) {
  const auto trimmed = [](std::string text) {
    text.erase(text.find_last_not_of(" \"") + 1);
    text.erase(0, text.find_first_not_of(" \""));
    return text;
  };
  std::vector<std::string> columns;
  std::size_t at = 0;
  while (columns.size() < 2 && (at = line.find_first_not_of(separators, at)) != std::string::npos) {
    const std::size_t quoted = line[at] == '"' ? line.find('"', at + 1) : at;
    const std::size_t end = std::min(line.find_first_of(separators, quoted), line.size());
    columns.push_back(trimmed(line.substr(at, end - at)));
    at = end;
  }
  return columns;
}

std::optional<std::int32_t> parse_label(const std::string& text) {
  std::int32_t label = 0;
  const auto [stopped, code] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (code != std::errc{} || stopped != text.data() + text.size()) return std::nullopt;
  return label;
}

/// Columns of label and name that a header line names, as in BIDS and in nodes.tsv.
struct column_order {
  std::size_t label, name;
};

std::vector<std::string> all_columns(const std::string& line) {
  std::vector<std::string> columns;
  std::istringstream text(line);
  for (std::string column; std::getline(text, column, '\t');) columns.push_back(column);
  return columns;
}

/// The order of a header line; nothing for a line that is none.
std::optional<column_order> read_header(const std::string& line) {
  const std::vector<std::string> columns = all_columns(line);
  const auto find = [&](const char* wanted) {
    return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), wanted) - columns.begin());
  };
  const std::size_t label = find("label") < columns.size() ? find("label") : find("index"), name = find("name");
  if (label == columns.size() || name == columns.size()) return std::nullopt;
  return column_order{label, name};
}

bool is_number(const std::string& word) {
  double value = 0;
  const auto [stopped, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  return code == std::errc{} && stopped == word.data() + word.size();
}

/// The name in a line whose columns are separated by blanks: all words after the label, "Left Precentral". If the line
/// ends in a number, as with the colours of FreeSurfer and MRtrix, these are columns, and the first is the name. "" if
/// only white space of other kinds follows the label.
std::string name_of_words(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words(std::istream_iterator<std::string>(text), {});
  words.erase(words.begin());
  if (words.empty()) return "";
  if (is_number(words.back())) return words.front();
  return fmt::format("{}", fmt::join(words, " "));
}

/// A quoted name, or one in a line with tabs or commas between columns, may contain anything.
std::optional<named_label> parse_line(const std::string& line) {
  for (const char* separators : {"\t", ",;", " ,;\t"}) {
    const std::vector<std::string> columns = first_columns(line, separators);
    const auto label = columns.empty() ? std::nullopt : parse_label(columns[0]);
    if (!label || columns.size() < 2) continue;
    const bool by_words = line.find_first_of(",;\t\"") == std::string::npos;
    const std::string name = by_words ? name_of_words(line) : columns[1];
    if (!name.empty()) return named_label{*label, name};
  }
  return std::nullopt;
}

std::optional<named_label> parse_line(const std::string& line, const column_order& at) {
  const std::vector<std::string> columns = all_columns(line);
  const auto label = at.label < columns.size() ? parse_label(columns[at.label]) : std::nullopt;
  if (!label || at.name >= columns.size() || columns[at.name].empty()) return std::nullopt;
  return named_label{*label, columns[at.name]};
}

/// A name as a table's column can hold it: tabs and other control characters are blanks, at its ends there are none.
std::string one_line(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  name.erase(name.find_last_not_of(' ') + 1);
  name.erase(0, name.find_first_not_of(' '));
  return name;
}

std::map<std::int32_t, std::string> read_table(const std::string& path) {
  std::map<std::int32_t, std::string> names;
  std::istringstream text(read_text(path));
  std::string line;
  std::optional<column_order> order;
  for (int number = 1; std::getline(text, line); ++number) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty() || line.front() == '#') continue;
    if (names.empty() && !order && (order = read_header(line))) continue;
    const std::string where = fmt::format("{}: line {}", printable(path), number);
    auto found = order ? parse_line(line, *order) : parse_line(line);
    if (found) found->name = one_line(found->name);
    if (!found || found->name.empty())
      throw failure(exit_status::bad_data, fmt::format("{}: found \"{}\", expected a label and a name, e.g. 17 "
                                                       "Rolandic_Oper_L",
                                                       where, printable(line.substr(0, longest_quote))));
    if (!names.emplace(found->label, found->name).second)
      throw failure(exit_status::bad_data,
                    fmt::format("{}: label {} already has a name, expected one line per label", where, found->label));
  }
  return names;
}

/// "1, 2, 3, 4, 5 and 35 more".
template <class T>
std::string first_of(const std::vector<T>& list) {
  constexpr std::size_t shown = 5;
  if (list.size() <= shown + 1) return fmt::format("{}", fmt::join(list, ", "));
  return fmt::format("{} and {} more", fmt::join(list.begin(), list.begin() + shown, ", "), list.size() - shown);
}

void warn_about_duplicates(const std::string& path, const std::vector<std::string>& names) {
  std::map<std::string, int> counts;
  for (const std::string& name : names) ++counts[name];
  std::vector<std::string> repeated;
  for (const auto& [name, count] : counts)
    if (count > 1) repeated.push_back(name);
  if (!repeated.empty())
    spdlog::warn(
        "{}: {} is the name of several regions; columns of the matrices have the same name; names with blanks "
        "need a tab after the label if more columns follow",
        printable(path), first_of(repeated));
}

}  // namespace

std::vector<std::string> read_region_names(const std::string& path, const std::vector<std::int32_t>& labels) {
  const auto table = read_table(path);
  std::vector<std::string> names;
  std::vector<std::int32_t> without;
  for (const std::int32_t label : labels) {
    const auto found = table.find(label);
    if (found == table.end()) without.push_back(label);
    names.push_back(found == table.end() ? std::to_string(label) : found->second);
  }
  if (without.size() == labels.size())
    throw failure(exit_status::bad_data,
                  fmt::format("{}: has no name for any of the {} regions; does it belong to another parcellation?",
                              printable(path), labels.size()));
  if (!without.empty())
    spdlog::warn("{}: has no name for labels {}; their numbers are used as names", printable(path), first_of(without));
  warn_about_duplicates(path, names);
  return names;
}

}  // namespace voxherd
