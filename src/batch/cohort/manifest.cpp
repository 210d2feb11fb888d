#include "src/batch/cohort/manifest.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "core/command_line.hpp"
#include "core/failure.hpp"
#include "core/plain_text.hpp"
#include "core/text.hpp"

namespace voxherd {

namespace {

constexpr const char* template_mark = "# template:";

struct table {
  std::string path;
  std::vector<std::string> columns;
  std::vector<std::pair<std::size_t, std::vector<std::string>>> rows;  ///< line number, cells
  std::string template_text;
};

std::string trim(const std::string& text) {
  const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> split_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t start = 0;
  for (std::size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t', start)) {
    cells.push_back(trim(line.substr(start, tab - start)));
    start = tab + 1;
  }
  cells.push_back(trim(line.substr(start)));
  return cells;
}

void read_columns(table& t, std::size_t line, std::vector<std::string> columns) {
  t.columns = std::move(columns);
  for (std::size_t i = 0; i < t.columns.size(); ++i) {
    if (t.columns[i] == "participant_id") t.columns[i] = "subject";
    if (t.columns[i].empty()) refuse_data("{} line {}: column {} has no name", t.path, line, i + 1);
    if (std::count(t.columns.begin(), t.columns.begin() + static_cast<long>(i), t.columns[i]) > 0)
      refuse_data("{} line {}: column {} appears twice; column names must be unique", t.path, line, t.columns[i]);
  }
  if (std::count(t.columns.begin(), t.columns.end(), "subject") == 0)
    refuse_data("{} line {}: expected column names separated by tabs, including `subject`; found: {}", t.path, line,
                fmt::join(t.columns, ", "));
}

table read_table(const std::string& path, const std::string& text) {
  table t{path, {}, {}, ""};
  std::size_t number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    if (t.columns.empty() && line.rfind(template_mark, 0) == 0)
      t.template_text = trim(line.substr(std::string(template_mark).size()));
    if (line.rfind('#', 0) == 0 || line.find_first_not_of(" \t") == std::string::npos) continue;
    std::vector<std::string> cells = split_cells(line);
    if (t.columns.empty()) {
      read_columns(t, number, std::move(cells));
    } else if (cells.size() != t.columns.size()) {
      refuse_data("{} line {}: found {} cells separated by tabs, expected {}: {}", path, number, cells.size(),
                  t.columns.size(), fmt::join(t.columns, ", "));
    } else {
      t.rows.emplace_back(number, std::move(cells));
    }
  }
  if (t.rows.empty()) refuse_data("{}: no subjects; expected a line of column names, then one line per subject", path);
  return t;
}

std::optional<std::size_t> find_column(const table& t, const std::string& name) {
  const auto found = std::find(t.columns.begin(), t.columns.end(), name);
  if (found == t.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - t.columns.begin());
}

/// A word of the template with {COLUMN} replaced by the row's cells.
std::string fill_in(const table& t, const std::string& word, std::size_t line, const std::vector<std::string>& cells) {
  std::string filled;
  std::size_t at = 0;
  for (std::size_t open = word.find('{'); open != std::string::npos; open = word.find('{', at)) {
    const std::size_t close = word.find('}', open);
    const std::string name = close == std::string::npos ? "" : word.substr(open + 1, close - open - 1);
    const auto column = find_column(t, name == "participant_id" ? "subject" : name);
    if (!column)
      refuse_usage("template: `{}` does not name a column of {}; its columns are: {}", word, t.path,
                   fmt::join(t.columns, ", "));
    const std::string& cell = cells[*column];
    if (cell.empty() || cell == "n/a")
      refuse_data("{} line {}, column {}: `{}`, but the template needs a value for {{{}}}", t.path, line, name, cell,
                  name);
    filled += word.substr(at, open - at) + cell;
    at = close + 1;
  }
  return filled + word.substr(at);
}

/// The words of one subject's command line, without `voxherd` itself.
std::vector<std::string> subject_words(const table& t, const std::vector<std::string>& template_words, std::size_t line,
                                       const std::vector<std::string>& cells) {
  std::vector<std::string> words;
  if (!template_words.empty()) {
    for (const std::string& word : template_words) words.push_back(fill_in(t, word, line, cells));
  } else {
    try {
      words = split_words(cells[*find_column(t, "command")]);
    } catch (const failure& f) {
      refuse_data("{} line {}, column command: {}", t.path, line, f.what());
    }
  }
  if (!words.empty() && words.front() == "voxherd") words.erase(words.begin());
  if (words.empty())
    refuse_data("{} line {}, column command: empty; expected a command, e.g. tensor --dwi ...", t.path, line);
  return words;
}

/// The value of --out among the words, "" if it is missing.
std::string find_out(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--out" && i + 1 < words.size()) return words[i + 1];
    if (words[i].rfind("--out=", 0) == 0) return words[i].substr(6);
  }
  return "";
}

/// The result of a command that chooses its name itself; "" for other commands, and for a wrong command line, which the
/// table of subjects shows.
std::string find_own_result(const std::vector<std::string>& words) {
  try {
    const command& what = find_command(all_commands(), words.front());
    if (what.own_result == nullptr) return "";
    return what.own_result(parse_command_line(what, {words.begin() + 1, words.end()}));
  } catch (const failure&) {
    return "";
  }
}

bool names_its_result(const std::string& name) {
  const auto commands = all_commands();
  return std::any_of(commands.begin(), commands.end(),
                     [&](const command* c) { return c->name == name && c->own_result != nullptr; });
}

bool is_same_place(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code none;
  return fs::weakly_canonical(fs::absolute(one, none), none) == fs::weakly_canonical(fs::absolute(other, none), none);
}

/// The result of a program that has no --out. The column may name it.
void set_own_result(const table& t, const std::string& cell, cohort_subject& s) {
  const std::string own = find_own_result(s.words);
  if (cell.empty() || cell == "n/a") {
    s.out = own;
  } else if (own.empty() || is_same_place(cell, own)) {
    s.out = cell;
  } else {
    refuse_data("{} line {}, column out: {}, but the result of this {} is {}; correct the cell, or leave it empty",
                t.path, s.line, cell, s.words.front(), own);
  }
}

void set_out(const table& t, const std::vector<std::string>& cells, cohort_subject& s) {
  const auto column = find_column(t, "out");
  const bool has_own_result = names_its_result(s.words.front());
  const std::string cell = column ? cells[*column] : "", option = has_own_result ? "" : find_out(s.words);
  if (!cell.empty() && !option.empty() && cell != option)
    refuse_data("{} line {}, column out: {}, but the command has --out {}; remove one of them", t.path, s.line, cell,
                option);
  if (has_own_result) {
    set_own_result(t, cell, s);
  } else {
    s.out = cell.empty() ? option : cell;
  }
  if (s.out.empty() || s.out == "n/a")
    refuse_data("{} line {}: {}: no result file; set it in column out or with --out in the command", t.path, s.line,
                s.name);
  if (option.empty() && !has_own_result) s.words.insert(s.words.end(), {"--out", s.out});
  if (std::find(s.words.begin(), s.words.end(), "--resume") == s.words.end()) s.words.push_back("--resume");
}

/// Throws if an earlier line has the same value.
void check_new(const table& t, std::map<std::string, std::size_t>& seen, const std::string& value,
               const std::string& column, std::size_t line) {
  const auto [earlier, is_new] = seen.emplace(value, line);
  if (!is_new)
    refuse_data("{} line {}, column {}: {} is already used in line {}", t.path, line, column, value, earlier->second);
}

}  // namespace

std::vector<cohort_subject> parse_manifest(const std::string& path, const std::string& text,
                                           const std::string& given_template) {
  const table t = read_table(path, text);
  const std::string& template_text = given_template.empty() ? t.template_text : given_template;
  if (template_text.empty() && !find_column(t, "command"))
    refuse_data("{}: no column `command` and no template (--template or a line `{} ...`); columns: {}", path,
                template_mark, fmt::join(t.columns, ", "));
  std::vector<std::string> template_words;
  try {
    template_words = split_words(template_text);
  } catch (const failure& f) {
    refuse_usage("template: {}", f.what());
  }
  std::vector<cohort_subject> subjects;
  std::map<std::string, std::size_t> names;
  for (const auto& [line, cells] : t.rows) {
    cohort_subject s{subjects.size() + 1, line, cells[*find_column(t, "subject")], "", {}};
    if (s.name.empty()) refuse_data("{} line {}, column subject: empty; expected the subject's name", path, line);
    check_new(t, names, s.name, "subject", line);
    s.words = subject_words(t, template_words, line, cells);
    set_out(t, cells, s);
    subjects.push_back(std::move(s));
  }
  return subjects;
}

}  // namespace voxherd
