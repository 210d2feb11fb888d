#include "src/scan/region_names.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/plain_text.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

constexpr std::uint64_t max_names_bytes = 16 << 20;
constexpr std::size_t longest_quote = 40;

struct named_label {
  std::int32_t label;
  std::string name;
};

/// A line that is neither blank nor a comment.
struct names_line {
  std::size_t number;
  std::string text;   ///< without blanks and tabs at its ends
  std::string cells;  ///< with the tabs before the first word, each of which ends an empty cell
};

std::vector<names_line> read_lines(const std::string& path) {
  std::vector<names_line> lines;
  std::size_t number = 0;
  constexpr const char* expected = "a text with one label and name per line";
  const std::string text_of_file = read_text_file(path, expected, max_names_bytes);
  require_utf8(text_of_file, path, expected);
  for (std::string& line : split_lines(text_of_file)) {
    ++number;
    line.erase(line.find_last_not_of(" \t") + 1);
    const std::string text = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!text.empty() && text.front() != '#') lines.push_back({number, text, std::move(line)});
  }
  return lines;
}

using cell_list = std::vector<std::string>;

std::string without_quotes(std::string cell) {
  cell.erase(cell.find_last_not_of(' ') + 1);
  cell.erase(0, cell.find_first_not_of(' '));
  if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return cell;
  cell = cell.substr(1, cell.size() - 2);
  // Inside of quotes a quote is doubled.
  for (std::size_t at = cell.find("\"\""); at != std::string::npos; at = cell.find("\"\"", at + 1)) cell.erase(at, 1);
  return cell;
}

/// The quote that closes the one at `first`; npos for none.
std::size_t find_closing_quote(const std::string& line, std::size_t first) {
  std::size_t at = line.find('"', first + 1);
  while (at != std::string::npos && at + 1 < line.size() && line[at + 1] == '"') at = line.find('"', at + 2);
  return at;
}

/// Cells separated by one of these characters. A quoted cell may contain them. `merges`: several separators in a row
/// are one, as between words.
cell_list split_cells(const std::string& line, const char* separators, bool merges) {
  cell_list cells;
  for (std::size_t at = 0; at <= line.size();) {
    if (merges) at = std::min(line.find_first_not_of(separators, at), line.size());
    if (merges && at == line.size()) break;
    const std::size_t first = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t closed = first < line.size() && line[first] == '"' ? find_closing_quote(line, first) : first;
    const std::size_t end = std::min(line.find_first_of(separators, closed), line.size());
    cells.push_back(without_quotes(line.substr(at, end - at)));
    at = end + 1;
  }
  return cells;
}

cell_list split_at_blanks(const std::string& line) { return split_cells(line, " \t", true); }

std::optional<std::int32_t> parse_label(const std::string& text) {
  std::int32_t label = 0;
  const auto [stopped, code] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (code != std::errc{} || stopped != text.data() + text.size()) return std::nullopt;
  return label;
}

bool is_number(const std::string& word) {
  double value = 0;
  const auto [stopped, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  return code == std::errc{} && stopped == word.data() + word.size();
}

std::string join_from(const cell_list& words, std::size_t first, std::size_t count) {
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first);
  return fmt::format("{}", fmt::join(begin, begin + static_cast<std::ptrdiff_t>(count), " "));
}

/// The name in a line of words of which the first is the label; "" if there is none.
std::string name_of_words(const cell_list& words) {
  const auto is_name = [](const std::string& word) { return !is_number(word); };
  const std::size_t first =
                        static_cast<std::size_t>(std::find_if(words.begin() + 1, words.end(), is_name) - words.begin()),
                    after = static_cast<std::size_t>(words.rend() -
                                                     std::find_if(words.rbegin(), words.rend() - 1, is_name));
  const std::size_t before = first - 1, behind = words.size() - after;
  if (words.size() == 1) return "";
  if (first == words.size()) return words.size() == 2 ? words[1] : "";  // a number as a name, but no colours
  // ITK-SNAP has red, green, blue, alpha, visibility and mesh before the name, FSLeyes red, green and blue.
  if (before == 3 || before == 4 || before == 6) return join_from(words, first, words.size() - first);
  const std::size_t names = after - 1;
  // FreeSurfer has a name and a colour behind it, MRtrix a short and a long name, AAL a name and a number.
  const bool has_colour = behind >= 3;
  if (before == 0 && behind > 0 && (names == 1 || (has_colour && names == 2))) return words[1];
  return join_from(words, 1, has_colour ? names : words.size() - 1);
}

/// The name in cells of which the first is the label: the second, or the first that is no number, as behind colours.
std::string name_of_cells(const cell_list& cells) {
  if (cells.size() == 2 || !is_number(cells[1])) return cells[1];
  const auto name = std::find_if(cells.begin() + 1, cells.end(),
                                 [](const std::string& cell) { return !cell.empty() && !is_number(cell); });
  return name == cells.end() ? "" : *name;
}

/// A line that begins with the label. A name in a line with tabs or commas between columns may contain anything.
std::optional<named_label> parse_label_first(const std::string& line) {
  for (const char* separators : {"\t", ",;", " ,;\t"}) {
    const bool is_last = separators[0] == ' ';
    const cell_list cells = split_cells(line, separators, is_last);
    const auto label = cells.empty() ? std::nullopt : parse_label(cells[0]);
    if (!label || cells.size() < 2) continue;
    const bool by_words = is_last && line.find_first_of(",;\t") == std::string::npos;
    const std::string name = by_words ? name_of_words(split_at_blanks(line)) : name_of_cells(cells);
    if (!name.empty()) return named_label{*label, name};
  }
  return std::nullopt;
}

/// A header's word without case and marks: "Label_ID" is "labelid".
std::string plain_word(const std::string& word) {
  std::string plain;
  for (const char c : word)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

/// Columns of label and name that a header line names, as in BIDS's dseg.tsv, nodes.tsv, Allen's and brainglobe's CSV.
struct column_order {
  char separator;  ///< blank: words
  std::size_t label, name;
  std::size_t count;         ///< of columns
  bool has_labels_as_names;  ///< the names are in a column `label`: numbers are no names there
};

cell_list split_columns(const std::string& line, char separator) {
  return separator == ' ' ? split_at_blanks(line) : split_cells(line, std::string(1, separator).c_str(), false);
}

/// The column with the first of these words that a header has; `without` is left out. Throws failure (bad_data) if two
/// columns have this word.
std::optional<std::size_t> find_word(const cell_list& columns, std::initializer_list<const char*> words,
                                     std::optional<std::size_t> without, const std::string& where) {
  for (const char* word : words) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (plain_word(columns[i]) != word || i == without) continue;
      if (found)
        refuse_data("{}: columns {} and {} are both named {}, expected one", where, *found + 1, i + 1, columns[i]);
      found = i;
    }
    if (found) return found;
  }
  return std::nullopt;
}

/// The order of a header line; nothing for a line that is none.
std::optional<column_order> read_header(const std::string& line, const std::string& where) {
  char separator = ' ';
  for (const char c : {';', ',', '\t'})
    if (line.find(c) != std::string::npos) separator = c;
  const cell_list columns = split_columns(line, separator);
  if (columns.size() < 2 || std::any_of(columns.begin(), columns.end(), is_number)) return std::nullopt;
  // A table with a name for each label has both words, label and name; without the latter its labels may be names.
  const bool label_is_name = !find_word(columns, {"name"}, {}, where) && find_word(columns, {"index", "id"}, {}, where);
  const auto label = label_is_name
                         ? find_word(columns, {"index", "id"}, {}, where)
                         : find_word(columns,
                                     {"label", "labelid", "labelvalue", "labelnumber", "index", "id", "structureid",
                                      "regionid", "roiid", "value", "key", "number", "no", "intensity", "roi"},
                                     {}, where);
  if (!label) return std::nullopt;
  const auto name = find_word(columns,
                              {"name", "labelname", "regionname", "roiname", "structurename", "fullname", "longname",
                               "region", "structure", "label", "roi", "acronym", "abbreviation"},
                              label, where);
  if (!name) return std::nullopt;
  return column_order{separator, *label, *name, columns.size(), plain_word(columns[*name]) == "label"};
}

/// Nothing also for a line with more cells than the header: the first one may be the number of the row (R's
/// write.table), or a name may contain the separator.
std::optional<named_label> parse_columns(const std::string& line, const column_order& at) {
  cell_list columns = split_columns(line, at.separator);
  while (!columns.empty() && columns.back().empty()) columns.pop_back();
  if (columns.size() > at.count) return std::nullopt;
  const auto label = at.label < columns.size() ? parse_label(columns[at.label]) : std::nullopt;
  if (!label || at.name >= columns.size() || columns[at.name].empty()) return std::nullopt;
  if (at.has_labels_as_names && is_number(columns[at.name])) return std::nullopt;
  return named_label{*label, columns[at.name]};
}

/// A label and a name of one or more words. Nothing for two numbers: the first one may be the number of the row.
std::optional<named_label> parse_named_words(const std::string& line) {
  const cell_list words = split_at_blanks(line);
  if (words.size() > 2 && is_number(words[1])) return std::nullopt;
  return parse_label_first(line);
}

/// Workbench's list: a line with a name, then one with its key and a colour.
bool is_workbench_list(const std::vector<names_line>& lines) {
  const auto is_colour = [](const std::string& line) {
    const cell_list words = split_at_blanks(line);
    return words.size() == 5 &&
           std::all_of(words.begin(), words.end(), [](const std::string& w) { return parse_label(w).has_value(); });
  };
  bool any_name = false;
  for (std::size_t i = 0; i + 1 < lines.size(); i += 2) {
    if (!is_colour(lines[i + 1].text)) return false;
    any_name = any_name || !is_colour(lines[i].text);
  }
  return any_name && lines.size() % 2 == 0;
}

/// A line that ends with the label, as in AAL's tables: a short name, a name, and the label; or a name and the label.
std::optional<named_label> parse_label_last(const std::string& line, std::set<std::string>& short_names) {
  const bool has_tabs = line.find('\t') != std::string::npos;
  const cell_list cells = has_tabs ? split_cells(line, "\t", true) : split_at_blanks(line);
  if (cells.size() < 2 || cells.size() > 3 || is_number(cells[0]) || is_number(cells[cells.size() - 2])) return {};
  // Words that repeat are no short names, but parts of names with blanks.
  if (!has_tabs && cells.size() == 3 && !short_names.insert(cells[0]).second) return {};
  const auto label = parse_label(cells.back());
  if (!label) return {};
  return named_label{*label, cells[cells.size() - 2]};
}

bool is_label_last(const std::vector<names_line>& lines) {
  std::set<std::string> short_names;
  return std::all_of(lines.begin(), lines.end(),
                     [&](const names_line& l) { return parse_label_last(l.text, short_names).has_value(); });
}

/// The names of a table, each with the number of its line.
class names_table {
 public:
  explicit names_table(const std::string& path) : path_(path) {
    const std::vector<names_line> lines = read_lines(path);
    if (lines.empty()) return;
    if (is_workbench_list(lines)) {
      for (std::size_t i = 0; i < lines.size(); i += 2)
        add(lines[i], named_label{*parse_label(split_at_blanks(lines[i + 1].text)[0]), lines[i].text});
    } else if (const auto order = read_header(lines[0].cells, where(lines[0]))) {
      // Behind a header of words a name may contain blanks.
      const bool is_plain =
          order->separator == ' ' && order->label == 0 && order->name == 1 && !order->has_labels_as_names;
      for (std::size_t i = 1; i < lines.size(); ++i)
        add(lines[i], is_plain ? parse_named_words(lines[i].text) : parse_columns(lines[i].cells, *order));
    } else if (is_label_last(lines)) {
      std::set<std::string> short_names;
      for (const names_line& l : lines) add(l, parse_label_last(l.text, short_names));
    } else {
      for (const names_line& l : lines) add(l, parse_label_first(l.text));
    }
  }

  /// Increasing.
  std::vector<std::int32_t> labels() const {
    std::vector<std::int32_t> list;
    for (const auto& [label, names] : names_) list.push_back(label);
    return list;
  }

  /// Of all lines, also those of one label.
  std::vector<std::string> all_names() const {
    std::vector<std::string> list;
    for (const auto& [label, names] : names_)
      for (const auto& [line, name] : names) list.push_back(name);
    return list;
  }

  /// Null if the table has none. Throws failure (bad_data) if it has several.
  const std::string* find(std::int32_t label) const {
    const auto first = names_.find(label);
    if (first == names_.end()) return nullptr;
    for (const auto& [number, name] : first->second)
      if (name != first->second.front().second)
        refuse_data("{}: line {}: label {} already has a name, {} in line {}, not {}; expected one name per label",
                    path_, number, label, first->second.front().second, first->second.front().first, name);
    return &first->second.front().second;
  }

 private:
  std::string where(const names_line& line) const { return fmt::format("{}: line {}", path_, line.number); }

  void add(const names_line& line, std::optional<named_label> found) {
    if (found) found->name = text_of_cell(plain_name(found->name));
    if (!found || found->name.empty())
      refuse_data("{}: found \"{}\", expected a label and a name, e.g. 17 Rolandic_Oper_L", where(line),
                  line.text.substr(0, longest_quote));
    names_[found->label].emplace_back(line.number, std::move(found->name));
  }

  std::string path_;
  std::map<std::int32_t, std::vector<std::pair<std::size_t, std::string>>> names_;
};

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
        path, first_of(repeated));
}

}  // namespace

void keep_named_regions(const std::string& table, const std::vector<std::int32_t>& wanted, label_image& image) {
  if (table.empty()) return;
  std::vector<std::int32_t> all, missing;
  std::size_t named = 0;
  for (const std::int32_t label : names_table(table).labels()) {
    if (label <= 0 || !(wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), label))) continue;
    ++named;
    if (!std::binary_search(image.values.begin(), image.values.end(), label)) missing.push_back(label);
  }
  if (missing.size() == named || missing.empty()) return;
  if (2 * missing.size() > named) {
    spdlog::info(
        "{}: names {} regions, of which {} has {}; the others have no rows, because it is a list of all labels "
        "of an atlas or a program",
        table, named, image.path, named - missing.size());
    return;
  }
  spdlog::warn("{}: {} of the {} regions that {} names have no voxel: {}; their rows and columns are empty", image.path,
               missing.size(), named, table, first_of(missing));
  std::vector<std::uint64_t> counts;
  std::merge(image.values.begin(), image.values.end(), missing.begin(), missing.end(), std::back_inserter(all));
  for (const std::int32_t label : all) {
    const auto at = std::lower_bound(image.values.begin(), image.values.end(), label);
    const bool has = at != image.values.end() && *at == label && !image.voxel_count.empty();
    counts.push_back(has ? image.voxel_count[static_cast<std::size_t>(at - image.values.begin())] : 0);
  }
  image.values = std::move(all);
  image.voxel_count = std::move(counts);
}

std::vector<std::string> list_region_names(const std::string& path) { return names_table(path).all_names(); }

std::vector<std::string> read_region_names(const std::string& path, const std::vector<std::int32_t>& labels) {
  const names_table table(path);
  std::vector<std::string> names;
  std::vector<std::int32_t> without;
  for (const std::int32_t label : labels) {
    const std::string* const found = table.find(label);
    if (found == nullptr) without.push_back(label);
    names.push_back(found == nullptr ? std::to_string(label) : *found);
  }
  if (without.size() == labels.size())
    refuse_data("{}: has no name for any of the {} regions; does it belong to another parcellation?", path,
                labels.size());
  if (!without.empty())
    spdlog::warn("{}: has no name for labels {}; their numbers are used as names", path, first_of(without));
  warn_about_duplicates(path, names);
  return names;
}

}  // namespace voxherd
