#include "core/shell_words.hpp"

#include <fmt/core.h>

#include <cctype>

#include "core/failure.hpp"

namespace voxherd {

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
  if (quote != 0)
    throw failure(exit_status::usage, fmt::format("the quote {} at character {} is not closed", quote, opened + 1));
  if (in_word) words.push_back(word);
  return words;
}

std::string quoted_word(const std::string& word) {
  constexpr const char* harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace voxherd
