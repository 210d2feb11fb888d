#pragma once

#include <string>
#include <vector>

namespace voxherd {

/// A command line cut into words as a shell does it: blanks part words, '...' and "..." hold them together, a backslash
/// takes the next character as it is. Nothing is expanded: no $, no *, no ~. Throws failure (usage) for a quote that is
/// not closed, naming its column from 1.
std::vector<std::string> split_words(const std::string& text);

/// The word as a shell reads it back, in quotes only where it must be.
std::string quoted_word(const std::string& word);

}  // namespace voxherd
