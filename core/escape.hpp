#pragma once

#include <string>
#include <string_view>

#include "core/utf8.hpp"

namespace voxherd {

// Names of files, regions, columns and subjects come from users and from other programs, and may contain any bytes. A
// text in another language takes them only through the function of that language: these, quoted_word() for a word of a
// shell, one_line() for a message (core/text.hpp), and dump_json() for JSON (core/json_text.hpp).

/// A name as part of a line: valid UTF-8, with blanks for line feeds, tabs and other control characters, and none at
/// its ends.
std::string plain_name(const std::string& text);

/// "# TEXT": a comment of a shell, which is one line whatever the text contains.
std::string shell_comment(const std::string& text);

/// A cell of a table that is separated by commas (RFC 4180) or by tabs, without its separator. Line feeds and tabs are
/// blanks, because many programs split lines and cells before they look for quotes. A text that a spreadsheet would
/// compute as a formula, because it begins with = + - or @ and is not a number, begins with ' instead.
std::string csv_cell(const std::string& text);
std::string tsv_cell(const std::string& text);
/// A cell of a table of BIDS, which has tabs: the same as tsv_cell(), but formulas stay as they are, because programs
/// compare these names with those of other files; n/a if it is empty.
std::string bids_cell(const std::string& text);
/// The text that csv_cell() or tsv_cell() wrote as this one, apart from quotes: without the ' before a formula.
std::string text_of_cell(const std::string& cell);

/// A text in a paragraph, list or cell of Markdown: one line without markup and without HTML.
std::string markdown_text(const std::string& text);

/// A text in HTML, also inside quotes: markup is escaped, invalid UTF-8 and control characters are replaced.
std::string html_text(const std::string& text);
/// The same for XML, which allows no control characters.
std::string xml_text(std::string_view text);

}  // namespace voxherd
