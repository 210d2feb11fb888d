#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/failure.hpp"

namespace voxherd {

/// Whether the bytes are UTF-16 or UTF-32: by their byte order mark, or because one of the first two bytes is zero.
bool is_utf16(std::string_view bytes);

/// A text that somebody else wrote, as all readers take it: without the byte order mark that Excel and others write,
/// and with every line ended by a line feed (files of Windows have CR LF, of classic Mac OS CR). Throws failure
/// (`status`) for UTF-16 and for zero bytes. `name`: of the file; `expected`: what it should be, "a table of subjects".
std::string plain_text(std::string bytes, const std::string& name, const char* expected,
                       exit_status status = exit_status::bad_data);

/// For texts whose names end up in JSON, tables and pages: throws failure (`status`) with the line that is not UTF-8,
/// and what to do. `name` and `expected` as above.
void require_utf8(std::string_view text, const std::string& name, const char* expected,
                  exit_status status = exit_status::bad_data);

/// The lines of a plain text without their ends; an end of the text after a line feed is no line.
std::vector<std::string> split_lines(std::string_view text);

}  // namespace voxherd
