#include "core/error_output.hpp"

#include "core/text.hpp"

namespace voxherd {

namespace {

/// A message may quote a word of any length.
std::string without_middle(const std::string& text) {
  constexpr std::size_t longest = 2000;
  if (text.size() <= longest) return text;
  return text.substr(0, longest / 2) + "..." + text.substr(text.size() - longest / 2);
}

}  // namespace

void print_error(const std::string& message) {
  print_error_output("voxherd: error: {}\n", without_middle(one_line(message)));
}

}  // namespace voxherd
