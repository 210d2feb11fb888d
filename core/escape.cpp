#include "core/escape.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/json_text.hpp"
#include "core/text.hpp"

namespace voxherd {

namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code != std::errc::invalid_argument && end == text.data() + text.size();
}

constexpr std::string_view formula_signs = "=+-@";

bool is_formula(std::string_view text) {
  return !text.empty() && formula_signs.find(text.front()) != std::string_view::npos && !is_number(text);
}

std::string without_formula(const std::string& text) {
  const std::string name = plain_name(text);
  return is_formula(name) ? "'" + name : name;
}

std::string quoted_cell(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

/// A quote inside of a cell is a character as any other; at its beginning it would open a quoted cell.
std::string cell_between_tabs(const std::string& text) { return text.starts_with('"') ? quoted_cell(text) : text; }

}  // namespace

std::string plain_name(const std::string& text) {
  std::string name = valid_utf8(text);
  std::replace_if(name.begin(), name.end(), is_control, ' ');
  name.erase(name.find_last_not_of(' ') + 1);
  name.erase(0, name.find_first_not_of(' '));
  return name;
}

std::string shell_comment(const std::string& text) { return "# " + one_line(text); }

std::string csv_cell(const std::string& text) {
  const std::string cell = without_formula(text);
  // Where a comma is the decimal separator, spreadsheets separate cells by semicolons.
  return cell.find_first_of(",;\"") == std::string::npos ? cell : quoted_cell(cell);
}

std::string tsv_cell(const std::string& text) { return cell_between_tabs(without_formula(text)); }

std::string bids_cell(const std::string& text) {
  const std::string cell = cell_between_tabs(plain_name(text));
  return cell.empty() ? "n/a" : cell;
}

std::string text_of_cell(const std::string& cell) {
  return cell.starts_with('\'') && is_formula(std::string_view(cell).substr(1)) ? cell.substr(1) : cell;
}

std::string markdown_text(const std::string& text) {
  const std::string name = plain_name(text);
  const auto is_word = [&](std::size_t i) {
    const auto c = static_cast<unsigned char>(i < name.size() ? name[i] : ' ');
    return std::isalnum(c) != 0 || c >= 0x80;
  };
  std::string safe;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    // Inside of a word _ is no markup, and some programs would not find a link that contains \.
    const bool is_inside = c == '_' && i > 0 && is_word(i - 1) && is_word(i + 1);
    const bool is_entity = c == '&' && (is_word(i + 1) || (i + 1 < name.size() && name[i + 1] == '#'));
    // Not every program knows \< and \&.
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (is_entity) {
      safe += "&amp;";
    } else if (std::string_view("\\`*_[]#|~").find(c) != std::string_view::npos && !is_inside) {
      safe += {'\\', c};
    } else if (i == 0 && std::string_view("+-=").find(c) != std::string_view::npos) {
      safe += {'\\', c};  // a list or a heading
    } else {
      safe += c;
    }
  }
  return safe;
}

namespace {

/// `control`: what a control character becomes; "" for those that stay.
template <class Control>
std::string markup_text(const std::string& text, const Control& control) {
  std::string safe;
  for (const char c : valid_utf8(text)) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '"') {
      safe += "&quot;";
    } else if (c == '\'') {
      safe += "&#39;";
    } else if (is_control(c)) {
      safe += control(c);
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string html_text(const std::string& text) {
  return markup_text(text, [](char c) { return c == '\n' || c == '\t' ? std::string(1, c) : std::string("\uFFFD"); });
}

std::string xml_text(std::string_view text) {
  std::string safe = markup_text(std::string(text), [](char) { return " "; });
  // U+FFFE and U+FFFF are characters of UTF-8 and none of XML.
  for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (std::size_t at = safe.find(none); at != std::string::npos; at = safe.find(none, at))
      safe.replace(at, none.size(), "\uFFFD");
  return safe;
}

}  // namespace voxherd
