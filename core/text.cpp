#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/failure.hpp"
#include "core/utf8.hpp"

namespace voxherd {

const char* const version = VOXHERD_VERSION;

std::string readable_bytes(double bytes) {
  constexpr std::array<const char*, 5> units{"B", "kB", "MB", "GB", "TB"};
  std::size_t u = 0;
  for (; bytes >= 1000 && u + 1 < units.size(); ++u) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes, u == 0 ? 0 : 1, units[u]);
}

std::string clock_time(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::clamp(seconds + 0.5, 0.0, 3.6e9));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string counted(std::uint64_t count, const std::string& unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

std::string one_line(const std::string& text) {
  std::string line;
  std::size_t invalid = find_invalid_utf8(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    const bool is_control = code < 0x20 || code == 0x7f;
    line += is_control || i == invalid ? fmt::format("\\x{:02x}", code) : std::string(1, text[i]);
    if (i == invalid) invalid = i + 1 + std::min(find_invalid_utf8(std::string_view(text).substr(i + 1)), text.size());
  }
  return line;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  std::size_t opened = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < text.size();
    // Within "..." a shell's backslash escapes only these.
    if (escapes && (quote == 0 || text[i + 1] == '"' || text[i + 1] == '\\')) {
      word += text[++i];
      in_word = true;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c, opened = i, in_word = true;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (in_word) words.push_back(word);
      word.clear(), in_word = false;
    } else {
      word += c, in_word = true;
    }
  }
  if (quote != 0) refuse_usage("the quote {} at character {} is not closed", quote, opened + 1);
  if (in_word) words.push_back(word);
  return words;
}

std::vector<std::string> split_as_words(const std::string& text, const char*) { return split_words(text); }

std::string join_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted_word(word);
  return line;
}

std::string quoted_word(const std::string& word) {
  constexpr const char* harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace voxherd
