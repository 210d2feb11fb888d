#include "core/required_options.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace voxherd {

namespace {

/// The usage line in parts: "[...]", "(...)", "--name VALUE" or a plain word.
std::vector<std::string> split_usage(const std::string& usage) {
  std::vector<std::string> parts;
  int depth = 0;
  bool in_word = false;
  for (const char letter : usage) {
    if (letter == ']' || letter == ')') --depth;
    if (depth == 0 && letter == ' ') {
      in_word = false;
      continue;
    }
    const bool is_value = !in_word && !parts.empty() && parts.back().starts_with("--") && letter != '-' &&
                          letter != '[' && letter != '(' && letter != '|' &&
                          parts.back().find(' ') == std::string::npos;
    if (is_value) {
      parts.back() += ' ';
    } else if (!in_word) {
      parts.emplace_back();
    }
    in_word = true;
    parts.back() += letter;
    if (letter == '[' || letter == '(') ++depth;
  }
  return parts;
}

bool names(const std::string& part, const option_spec& spec) {
  return part == "--" + spec.name || part.starts_with("--" + spec.name + " ");
}

/// Parts of the usage line that a command always needs; none for a command with several forms.
std::vector<std::string> required_parts(const command& c) {
  std::vector<std::string> parts = split_usage(c.usage);
  const auto is_bar = [](const std::string& part) {
    return part.front() != '[' && part.front() != '(' && part.find('|') != std::string::npos;
  };
  if (std::any_of(parts.begin(), parts.end(), is_bar)) return {};
  std::erase_if(parts, [](const std::string& part) { return part.front() != '(' && !part.starts_with("--"); });
  return parts;
}

bool is_given(const command& c, const std::string& part, const given_options& given) {
  const auto& all = c.options();
  return std::any_of(all.begin(), all.end(), [&](const option_spec& spec) {
    if (!given.has(spec.name)) return false;
    return part.front() == '(' ? part.find("--" + spec.name + " ") != std::string::npos : names(part, spec);
  });
}

}  // namespace

bool is_positional(const command& c, const option_spec& spec) {
  return fmt::format(",{},", c.positional).find(fmt::format(",{},", spec.name)) != std::string::npos;
}

bool is_required(const command& c, const option_spec& spec) {
  if (is_positional(c, spec)) return c.usage[0] != '[';
  const auto parts = required_parts(c);
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) { return names(part, spec); });
}

void check_required(const command& c, const given_options& given) {
  std::vector<std::string> missing = required_parts(c);
  std::erase_if(missing, [&](const std::string& part) { return is_given(c, part, given); });
  if (missing.empty()) return;
  option::refuse(fmt::format("{}: {} {} missing; see voxherd {} --help", c.name, fmt::join(missing, ", "),
                             missing.size() == 1 ? "is" : "are", c.name));
}

}  // namespace voxherd
