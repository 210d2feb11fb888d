#include "src/analyses/perfusion/curve_table.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

enum class column_role { unknown, index, time, arterial, portal, concentration };

struct known_name {
  std::string_view name;
  column_role role;
};

/// In lower case, without blanks, units and `filler_words`. "cp" is left out: it is the plasma's concentration, that is
/// the artery's, to some, and the portal vein's to others.
constexpr known_name known_names[] = {{"time", column_role::time},
                                      {"times", column_role::time},
                                      {"t", column_role::time},
                                      {"onset", column_role::time},
                                      {"seconds", column_role::time},
                                      {"sec", column_role::time},
                                      {"s", column_role::time},
                                      {"minutes", column_role::time},
                                      {"min", column_role::time},
                                      {"milliseconds", column_role::time},
                                      {"ms", column_role::time},
                                      {"arterial", column_role::arterial},
                                      {"artery", column_role::arterial},
                                      {"hepaticartery", column_role::arterial},
                                      {"aorta", column_role::arterial},
                                      {"abdominalaorta", column_role::arterial},
                                      {"aif", column_role::arterial},
                                      {"ca", column_role::arterial},
                                      {"a", column_role::arterial},
                                      {"portal", column_role::portal},
                                      {"portalvein", column_role::portal},
                                      {"portalvenous", column_role::portal},
                                      {"venous", column_role::portal},
                                      {"vein", column_role::portal},
                                      {"pv", column_role::portal},
                                      {"pif", column_role::portal},
                                      {"pvif", column_role::portal},
                                      {"vif", column_role::portal},
                                      {"p", column_role::portal},
                                      {"", column_role::index},
                                      {"index", column_role::index},
                                      {"unnamed:0", column_role::index},
                                      {"frame", column_role::index},
                                      {"frames", column_role::index},
                                      {"volume", column_role::index},
                                      {"c", column_role::concentration},
                                      {"cb", column_role::concentration},
                                      {"value", column_role::concentration},
                                      {"values", column_role::concentration}};

/// Words that say nothing about which input a column is. A name of only such words is a concentration.
constexpr std::string_view filler_words[] = {"concentration", "conc",  "curve", "input", "function",   "mean",
                                             "signal",        "blood", "voi",   "roi",   "enhancement"};

constexpr const char* understood =
    "understood are time (t, seconds), arterial (artery, aorta, AIF, Ca) and portal (portal vein, vein, PIF, VIF), "
    "with or without a unit, such as \"time (min)\"";

struct known_unit {
  std::string_view name;
  bool is_time;
  double factor;  ///< to s, mM or HU
};
constexpr known_unit known_units[] = {{"s", true, 1},           {"sec", true, 1},         {"second", true, 1},
                                      {"seconds", true, 1},     {"ms", true, 0.001},      {"msec", true, 0.001},
                                      {"min", true, 60},        {"mins", true, 60},       {"minute", true, 60},
                                      {"minutes", true, 60},    {"mm", false, 1},         {"mmol/l", false, 1},
                                      {"mmol/liter", false, 1}, {"um", false, 0.001},     {"umol/l", false, 1e-3},
                                      {"\u00b5m", false, 1e-3}, {"\u03bcm", false, 1e-3}, {"mol/l", false, 1000},
                                      {"hu", false, 1},         {"au", false, 1},         {"a.u.", false, 1}};

struct parsed_name {
  column_role role = column_role::unknown;
  std::string unit;  ///< "" for none
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

std::vector<std::string> words_of(std::string_view name) {
  constexpr std::string_view between = " _-\t";
  std::vector<std::string> words;
  for (std::size_t at = name.find_first_not_of(between); at != name.npos;) {
    const std::size_t end = std::min(name.find_first_of(between, at), name.size());
    words.emplace_back(name.substr(at, end - at));
    at = name.find_first_not_of(between, end);
  }
  return words;
}

const known_unit* find_unit(std::string_view name) {
  const auto* const unit =
      std::find_if(std::begin(known_units), std::end(known_units), [&](const known_unit& u) { return u.name == name; });
  return unit == std::end(known_units) ? nullptr : unit;
}

column_role role_of(std::vector<std::string> words) {
  const bool any = !words.empty();
  std::erase_if(words, [](const std::string& word) {
    return std::find(std::begin(filler_words), std::end(filler_words), word) != std::end(filler_words);
  });
  if (any && words.empty()) return column_role::concentration;
  const std::string joined = fmt::format("{}", fmt::join(words, ""));
  for (const known_name& known : known_names)
    if (known.name == joined) return known.role;
  return column_role::unknown;
}

/// "Time (min)", "time [s]", "time_s", "t_ms", "arterial (mM)", "minutes".
parsed_name parse_name(const std::string& column) {
  std::string name = lower_case(column);
  parsed_name parsed;
  if (const std::size_t open = name.find_last_of("(["); open != name.npos && open > 0) {
    const std::size_t close = name.find_first_of(")]", open);
    parsed.unit = name.substr(open + 1, close == name.npos ? close : close - open - 1);
    name.resize(open);
  }
  std::vector<std::string> words = words_of(name);
  if (parsed.unit.empty() && words.size() > 1 && find_unit(words.back()) != nullptr) {
    parsed.unit = words.back();
    words.pop_back();
  }
  parsed.role = role_of(words);
  if (parsed.role == column_role::time && parsed.unit.empty() && words.size() == 1 && find_unit(words[0]) != nullptr)
    parsed.unit = words[0];
  return parsed;
}

/// "time (s)" was split at its blank if blanks separate the names.
std::vector<std::string> with_units_joined(const std::vector<std::string>& names) {
  std::vector<std::string> joined;
  for (const std::string& name : names) {
    if (!joined.empty() && (name.starts_with('(') || name.starts_with('[')))
      joined.back() += " " + name;
    else
      joined.push_back(name);
  }
  return joined;
}

bool is_number(const std::string& name) {
  double value = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), value);
  return code == std::errc{} && end == name.data() + name.size();
}

std::string quoted_names(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(name.empty() ? "\"\"" : '"' + name + '"');
  return fmt::format("{}", fmt::join(quoted, ", "));
}

/// A table's columns by their names.
class named_columns {
 public:
  explicit named_columns(const number_table& t) : table_(t) {
    names_ = t.column_names.size() > t.columns ? with_units_joined(t.column_names) : t.column_names;
    if (names_.size() + 1 == t.columns && !names_.empty() && !names_.front().empty())
      names_.insert(names_.begin(), "");  // the names of R and of pandas' to_string() leave out the index
    for (const std::string& name : names_) columns_.push_back(parse_name(name));
    if (t.names_are_comment && !names_the_time()) forget();
    if (names_.empty()) return;
    if (std::any_of(names_.begin(), names_.end(), is_number))
      refuse_data("{}: found \"{}\", expected a number, or a name for each column", t.name,
                  *std::find_if_not(names_.begin(), names_.end(), is_number));
    if (names_.size() == t.columns) return;
    const bool any_known = std::any_of(columns_.begin(), columns_.end(), [](const parsed_name& column) {
      return column.role == column_role::time || column.role == column_role::arterial ||
             column.role == column_role::portal;
    });
    if (any_known)
      refuse_data(
          "{}: its first line has {} names, {}, but the lines of numbers have {} columns; give each "
          "column one name",
          t.name, names_.size(), quoted_names(names_), t.columns);
    spdlog::warn("{}: the first line, {}, does not name the columns; they are read in their order", t.name,
                 quoted_names(names_));
    forget();
  }

  bool empty() const { return names_.empty(); }

  table_column find_time() const {
    const std::size_t index = find(column_role::time, "time");
    return {index, factor(index, true)};
  }

  table_column find_curve(curve_input input, bool is_only_curve) const {
    const bool arterial = input == curve_input::arterial;
    const column_role wanted = arterial ? column_role::arterial : column_role::portal;
    const std::size_t rest = is_only_curve && count(wanted) == 0 ? only_other_column(input) : names_.size();
    const std::size_t index = rest < names_.size() ? rest : find(wanted, arterial ? "arterial" : "portal");
    return {index, factor(index, false)};
  }

  double factor(std::size_t index, bool is_time) const {
    const std::string& name = columns_[index].unit;
    if (name.empty()) return 1;
    const known_unit* const unit = find_unit(name);
    if (unit == nullptr || unit->is_time != is_time)
      refuse_data("{}: column \"{}\": unknown unit \"{}\", expected {}", table_.name, names_[index], name,
                  is_time ? "s, ms or min" : "mM, uM or HU");
    return unit->factor;
  }

 private:
  /// Whether each column has a name and one of them is the time: a remark about the table is hardly ever like this.
  bool names_the_time() const { return names_.size() == table_.columns && count(column_role::time) > 0; }

  void forget() {
    names_.clear();
    columns_.clear();
  }

  std::size_t count(column_role role) const {
    return static_cast<std::size_t>(
        std::count_if(columns_.begin(), columns_.end(), [&](const parsed_name& c) { return c.role == role; }));
  }

  std::size_t find(column_role role, const char* what) const {
    if (const std::size_t n = count(role); n != 1)
      refuse_data("{}: {} of its columns {} are {}, expected one; {}; rename the columns", table_.name,
                  n == 0 ? "none" : fmt::format("{}", n), quoted_names(names_), what, understood);
    const auto found =
        std::find_if(columns_.begin(), columns_.end(), [&](const parsed_name& c) { return c.role == role; });
    return static_cast<std::size_t>(found - columns_.begin());
  }

  /// In a table of time and one curve, the curve may have any name but that of the other input. The number of names if
  /// there is no such column.
  std::size_t only_other_column(curve_input input) const {
    const column_role other = input == curve_input::arterial ? column_role::portal : column_role::arterial;
    std::size_t only = names_.size(), others = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].role == column_role::time || columns_[i].role == column_role::index) continue;
      only = i;
      ++others;
    }
    return others == 1 && columns_[only].role != other ? only : names_.size();
  }

  const number_table& table_;
  std::vector<std::string> names_;
  std::vector<parsed_name> columns_;
};

struct curve_columns {
  table_column time, curve;
};

curve_columns find_columns(const number_table& t, curve_input input, const std::string& option) {
  const bool is_only_curve = option != "curves";
  const curve_columns by_order{{0, 1}, {is_only_curve || input == curve_input::arterial ? 1U : 2U, 1}};
  if (t.columns <= by_order.curve.index)
    refuse_data("{}: has {} columns, expected at least {} for --{}: time in s, then {}", t.name, t.columns,
                by_order.curve.index + 1, option,
                is_only_curve ? "concentration" : "arterial and portal concentration");
  const named_columns named(t);
  return named.empty() ? by_order : curve_columns{named.find_time(), named.find_curve(input, is_only_curve)};
}

void check_rows(const number_table& t, const curve_columns& c) {
  if (t.rows < 2) refuse_data("{}: has {} row of numbers, expected at least 2", t.name, t.rows);
  for (std::size_t r = 0; r < t.rows; ++r) {
    const double time_s = c.time.value(t, r), concentration = c.curve.value(t, r);
    if (!std::isfinite(time_s) || !std::isfinite(concentration))
      refuse_data("{}: line {}: found {} {}, expected numbers", t.name, t.row_line[r], t.at(r, c.time.index),
                  t.at(r, c.curve.index));
    if (r > 0 && time_s <= c.time.value(t, r - 1))
      refuse_data("{}: line {}: {} s is not after {} s; times must increase", t.name, t.row_line[r], time_s,
                  c.time.value(t, r - 1));
  }
}

}  // namespace

std::optional<table_column> find_time_column(const number_table& table) {
  const named_columns named(table);
  if (table.columns == 1) return table_column{0, named.empty() ? 1 : named.factor(0, true)};
  if (named.empty()) return std::nullopt;
  return named.find_time();
}

std::vector<double> read_curve(const std::string& path, curve_input input, const std::string& option,
                               const std::vector<double>& time_s) {
  const number_table t = read_number_table(path, header_line::allowed);
  const curve_columns c = find_columns(t, input, option);
  check_rows(t, c);
  // A curve may be up to one frame shorter than the series at each end, where its nearest value is used.
  const double frame = (time_s.back() - time_s.front()) / static_cast<double>(time_s.size() - 1);
  const double from = c.time.value(t, 0), to = c.time.value(t, t.rows - 1);
  if (time_s.front() < from - frame || time_s.back() > to + frame)
    refuse_data("{}: has times from {} to {} s, expected at least the frames' {} to {} s", t.name, from, to,
                time_s.front(), time_s.back());
  std::vector<double> values;
  std::size_t r = 1;
  for (const double time : time_s) {
    while (r + 1 < t.rows && c.time.value(t, r) < time) ++r;
    const double t0 = c.time.value(t, r - 1), t1 = c.time.value(t, r);
    const double c0 = c.curve.value(t, r - 1), c1 = c.curve.value(t, r);
    values.push_back(c0 + std::clamp((time - t0) / (t1 - t0), 0.0, 1.0) * (c1 - c0));
  }
  return values;
}

}  // namespace voxherd
