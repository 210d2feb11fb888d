#include "src/fsl/fsl_words.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/failure.hpp"
#include "core/help.hpp"
#include "src/fsl/fsl_output.hpp"

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

/// An option without dashes and without its value.
std::string_view bare_name(std::string_view option) {
  option = option.substr(0, option.find('='));
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  return option;
}

/// The end of the option with two dashes that begins at `at` in a text; `at` if there is none.
std::size_t option_end(const std::string& text, std::size_t at) {
  const auto is_part = [&](std::size_t i) {
    return i < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '-' || text[i] == '_');
  };
  if (text.compare(at, 2, "--") != 0 || (at > 0 && (is_part(at - 1) || text[at - 1] == '/'))) return at;
  std::size_t end = at + 2;
  while (is_part(end)) ++end;
  return end == at + 2 ? at : end;
}

/// The end of a remark " (FSL's --option)" that begins at `at`: whoever types FSL's options does not need it.
std::size_t end_of_remark(const std::string& text, std::size_t at) {
  const std::size_t end = text.find(')', at);
  return text.compare(at, 8, " (FSL's ") == 0 && end != std::string::npos ? end + 1 : at;
}

/// How an option is called in the words of a command line; "" if it is not among them. Long names may have one dash.
std::string find_typed(std::string_view name, const std::vector<std::string>& typed) {
  for (const std::string& word : typed) {
    const std::string given = word.substr(0, word.find('='));
    if (given == name || (name.starts_with("--") && given == name.substr(1))) return given;
  }
  return "";
}

/// How an option of FSL was typed; "" if it was not.
std::string find_typed(const fsl_option& o, const std::vector<std::string>& typed) {
  for (std::string_view rest = o.names; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    if (const std::string name = find_typed(rest.substr(0, end), typed); !name.empty()) return name;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return "";
}

/// The name in a message of an option of ours.
std::string told_name(const fsl_program& program, const std::string& ours, const std::vector<std::string>& typed) {
  if (!find_typed(std::string_view(ours), typed).empty()) return ours;
  const fsl_option* first = nullptr;
  const auto comes_from = [&](const fsl_option& o) {
    if (o.answer == fsl_answer::unsupported) return false;
    return o.ours.substr(0, o.ours.find('=')) == ours ||
           std::any_of(program.told.begin(), program.told.end(),
                       [&](const told_option& t) { return t.ours == ours && o.is_named(t.fsl); });
  };
  for (const fsl_option& o : program.options) {
    if (!comes_from(o)) continue;
    if (const std::string name = find_typed(o, typed); !name.empty()) return name;
    if (first == nullptr) first = &o;
  }
  return first == nullptr ? ours : std::string(first->main_name());
}

}  // namespace

std::string_view fsl_option::main_name() const {
  const std::size_t at = std::min(names.find("--"), names.size());
  const std::string_view from = at == names.size() ? names : names.substr(at);
  return from.substr(0, from.find(", "));
}

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
    if (o->answer == fsl_answer::unsupported) refuse_usage("{}: {} is not supported: {}", program.name, name, o->ours);
    if (!o->takes_value() && equals != std::string::npos)
      refuse_usage("{}: {}: {} takes no value", program.name, word, name);
    std::string value;
    if (o->takes_value() && equals != std::string::npos) value = word.substr(equals + 1);
    if (o->takes_value() && equals == std::string::npos) {
      if (i + 1 == words.size()) refuse_usage("{}: {}: the value is missing", program.name, name);
      value = words[++i];
    }
    if (o->answer == fsl_answer::value && program.expected != nullptr)
      if (const std::string expected = program.expected(value, o->ours); !expected.empty())
        refuse_usage("{}: {} {}: expected {}", program.name, name, value, expected);
    ours.push_back(replaced(*o, name, value));
  }
  return ours;
}

namespace {

/// An option in the form of FSL's help, which programs read: a tab, the names, a tab, and the text in lines of 80
/// columns.
std::string option_lines(const std::string& names, const std::string& help) {
  constexpr std::size_t tab = 8, line_width = 79, next_column = 3 * tab;
  const std::size_t first_column = ((tab + names.size()) / tab + 1) * tab;
  const std::size_t room = line_width - std::max(first_column, next_column);
  return fmt::format("\t{}\t{}\n", names, fmt::join(wrap_text(help, room), "\n\t\t\t"));
}

}  // namespace

std::string list_fsl_options(const fsl_program& program) {
  std::string text = "Options of FSL:\n";
  for (const fsl_option& o : program.options) {
    if (o.answer == fsl_answer::unsupported) continue;
    std::string names(o.names), help = "no effect here";
    for (std::size_t at = 0; (at = names.find(", ", at)) != std::string::npos;) names.erase(at + 1, 1);
    if (!o.help.empty()) {
      help = o.help;
    } else if (!o.ours.empty()) {
      const option_spec* spec = program.table().find(std::string(bare_name(o.ours)));
      help = spec == nullptr ? "" : spec->help;
      if (o.main_name() != o.ours) help += fmt::format(" ({})", o.ours);
    }
    text += option_lines(names, help);
  }
  return text +
         list_names(program, "Not supported", [](const fsl_option& o) { return o.answer == fsl_answer::unsupported; });
}

std::string retell_in_fsl_words(const fsl_program& program, const std::string& message,
                                const std::vector<std::string>& typed) {
  std::string told;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t end = option_end(message, at);
    if (end == at) {
      told += message[at++];
    } else {
      told += told_name(program, message.substr(at, end - at), typed);
      at = end_of_remark(message, end);
    }
  }
  return told;
}

void begin_fsl_command(const std::vector<std::string>& no_difference) {
  (void)fsl_output_type();
  if (!no_difference.empty())
    spdlog::info("these flags of FSL have no effect here: {}", fmt::join(no_difference, ", "));
}

run_listener listen_as_part(const run_request& run) {
  run_listener listener = run.listener == nullptr ? run_listener{} : *run.listener;
  listener.completes_command = true;
  listener.resumes_by_itself = true;
  return listener;
}

}  // namespace voxherd
