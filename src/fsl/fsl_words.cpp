#include "src/fsl/fsl_words.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "core/failure.hpp"

namespace voxherd {

namespace {

const fsl_option* find_option(const fsl_program& program, std::string_view name) {
  const auto found = std::find_if(program.options.begin(), program.options.end(),
                                  [&](const fsl_option& o) { return o.is_named(name); });
  return found == program.options.end() ? nullptr : &*found;
}

/// One option as ours.
std::string replaced(const fsl_option& o, const std::string& name, const std::string& value) {
  if (o.answer == fsl_answer::value) return fmt::format("{}={}", o.ours, value);
  if (o.answer == fsl_answer::given) return std::string(o.ours);
  return fmt::format("--no-difference={}{}{}", name, value.empty() ? "" : " ", value);
}

/// The names of some options under a heading, in lines below 80 columns; "" if there are none.
template <class Wanted>
std::string list_names(const fsl_program& program, const char* heading, const Wanted& wanted) {
  constexpr std::size_t width = 76;
  std::string text, line;
  for (const fsl_option& o : program.options) {
    if (!wanted(o)) continue;
    if (line.size() + o.names.size() > width) text += std::exchange(line, "") + "\n";
    line += fmt::format("{}{}", line.empty() ? "    " : ", ", o.names);
  }
  return line.empty() ? "" : fmt::format("\n{}:\n{}{}\n", heading, text, line);
}

}  // namespace

bool fsl_option::is_named(std::string_view name) const {
  constexpr std::string_view between = ", ";
  for (std::string_view rest = names;;) {
    const std::size_t end = rest.find(between);
    if (rest.substr(0, end) == name) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + between.size());
  }
}

std::vector<std::string> translate_fsl_words(const fsl_program& program, const std::vector<std::string>& words) {
  const auto refuse = [&](const std::string& message) {
    throw failure(exit_status::usage, fmt::format("{}: {}", program.name, message));
  };
  std::vector<std::string> ours;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const fsl_option* o = find_option(program, name);
    if (o == nullptr) {
      ours.push_back(word);
      continue;
    }
    if (o->answer == fsl_answer::unsupported) refuse(fmt::format("{} is not supported: {}", name, o->ours));
    if (!o->takes_value() && equals != std::string::npos) refuse(fmt::format("{}: {} takes no value", word, name));
    std::string value;
    if (o->takes_value() && equals != std::string::npos) value = word.substr(equals + 1);
    if (o->takes_value() && equals == std::string::npos) {
      if (i + 1 == words.size()) refuse(fmt::format("{}: the value is missing", name));
      value = words[++i];
    }
    if (o->answer == fsl_answer::value && program.expected != nullptr)
      if (const std::string expected = program.expected(value, o->ours); !expected.empty())
        refuse(fmt::format("{} {}: expected {}", name, value, expected));
    ours.push_back(replaced(*o, name, value));
  }
  return ours;
}

std::string list_fsl_names(const fsl_program& program) {
  std::vector<std::pair<std::string_view, std::string>> lines;  // our option, and FSL's names
  for (const fsl_option& o : program.options) {
    if (o.answer != fsl_answer::value && o.answer != fsl_answer::given) continue;
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == o.ours; });
    if (found == lines.end()) {
      lines.emplace_back(o.ours, o.names);
    } else {
      found->second += fmt::format(", {}", o.names);
    }
  }
  std::string text = "FSL's options for these:\n";
  for (const auto& [ours, names] : lines) text += fmt::format("  {:<22} {}\n", ours, names);
  text += list_names(program, "Without effect", [](const fsl_option& o) {
    return o.answer == fsl_answer::no_difference || o.answer == fsl_answer::no_difference_value;
  });
  text += list_names(program, "Not supported", [](const fsl_option& o) { return o.answer == fsl_answer::unsupported; });
  return text;
}

void log_no_difference(const std::vector<std::string>& options) {
  if (!options.empty()) spdlog::info("these flags of FSL have no effect here: {}", fmt::join(options, ", "));
}

run_listener listen_as_part(const run_request& run) {
  run_listener listener = run.listener == nullptr ? run_listener{} : *run.listener;
  listener.completes_command = true;
  listener.resumes_by_itself = true;
  return listener;
}

}  // namespace voxherd
