#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace voxherd {

extern const char* const version;  ///< "0.1.0"

std::string readable_bytes(double bytes);  ///< "512 B", "1.5 GB"
std::string clock_time(double seconds);    ///< "12:34" or "1:02:03"

/// "1 voxel", "2 voxels". `unit`: in the singular; its plural ends in s.
std::string counted(std::uint64_t count, const std::string& unit);

/// The text with control characters as \xNN: a file name or a value in a message may contain a line feed.
std::string one_line(const std::string& text);

/// Splits a command line into words as a shell does: blanks separate words, '...' and "..." group them, a backslash
/// escapes the next character. Nothing is expanded: no $, no *, no ~. Throws failure (usage) for a quote that is not
/// closed, with its column from 1.
std::vector<std::string> split_words(const std::string& text);

/// The word quoted for a shell, only if necessary.
std::string quoted_word(const std::string& word);
/// The command line of these words. The other direction, as the parser of an option.
std::vector<std::string> split_as_words(const std::string& text, const char* option);
std::string join_words(const std::vector<std::string>& words);

/// Prints to standard error. Text that cannot be printed is lost: a closed standard error or a log on a full disk must
/// not end a computation.
template <class... T>
void print_error_output(fmt::format_string<T...> format, T&&... values) {
  const std::string text = fmt::format(format, std::forward<T>(values)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace voxherd
