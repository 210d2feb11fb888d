#pragma once

#include <string>
#include <vector>

namespace voxherd {

/// Splits a command line into words as a shell does: blanks separate words, '...' and "..." group them, a backslash
/// escapes the next character. Nothing is expanded: no $, no *, no ~. Throws failure (usage) for a quote that is not
/// closed, with its column from 1.
std::vector<std::string> split_words(const std::string& text);

/// The word quoted for a shell, only if necessary.
std::string quoted_word(const std::string& word);

}  // namespace voxherd
