#include "core/plain_text.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/escape.hpp"
#include "core/text.hpp"
#include "core/utf8.hpp"

namespace voxherd {

bool is_utf16(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) return true;
  using namespace std::string_view_literals;
  if (bytes.starts_with("\0\0\xfe\xff"sv)) return true;
  // The first character of a text is an ASCII one, in UTF-16 a zero byte and another one.
  return bytes.size() >= 4 && (bytes[0] == 0) != (bytes[1] == 0) && (bytes[2] == 0) == (bytes[0] == 0) &&
         (bytes[3] == 0) == (bytes[1] == 0);
}

std::string plain_text(std::string bytes, const std::string& name, const char* expected, exit_status status) {
  if (is_utf16(bytes))
    throw failure(status, fmt::format("{}: is a text in UTF-16, expected {} in UTF-8; save it again with the encoding "
                                      "UTF-8 (in Excel: CSV UTF-8)",
                                      name, expected));
  if (bytes.find('\0') != std::string::npos)
    throw failure(status, fmt::format("{}: contains binary data, expected {}", name, expected));
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.erase(0, 3);
  std::size_t end = bytes.find('\r');
  if (end == std::string::npos) return bytes;
  for (std::size_t at = end; at < bytes.size(); ++at) {
    if (bytes[at] == '\r' && at + 1 < bytes.size() && bytes[at + 1] == '\n') continue;
    bytes[end++] = bytes[at] == '\r' ? '\n' : bytes[at];
  }
  bytes.resize(end);
  return bytes;
}

void require_utf8(std::string_view text, const std::string& name, const char* expected, exit_status status) {
  const std::size_t at = find_invalid_utf8(text);
  if (at == std::string_view::npos) return;
  constexpr std::size_t quoted_before = 20, quoted_after = 10;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const std::size_t line_begin = text.substr(0, at).rfind('\n') + 1;  // 0 for the first line
  const std::size_t from = std::max(line_begin, at - std::min(at, quoted_before));
  const std::size_t to = std::min({text.size(), text.find('\n', at), at + quoted_after});
  throw failure(status,
                fmt::format("{}: line {}: \"{}\" is not in UTF-8, expected {} in UTF-8; convert it, for example "
                            "with iconv -f LATIN1 -t UTF-8 FILE",
                            name, line, one_line(std::string(text.substr(from, to - from))), expected));
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace voxherd
