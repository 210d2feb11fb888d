#include "core/help.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "core/json_text.hpp"
#include "core/text.hpp"

namespace voxherd {

namespace {

constexpr std::size_t line_width = 80, help_column = 25;

struct option_group {
  std::string heading;
  std::vector<const option_spec*> options;
};

const option_spec help_spec = [] {
  option_spec spec;
  spec.name = "help";
  spec.type = option_type::flag;
  spec.help =
      "print this help; --help-all prints all options, --help=markdown, --help=man and --help=json other formats";
  spec.group = "Help";
  return spec;
}();

constexpr const char* papers = ", for experiments and tuning";

/// Input first, the groups shared by all analyses last.
int group_order(const std::string& heading) {
  constexpr std::array<const char*, 3> last{"Output", "Running", "Help"};
  if (heading == "Input") return -1;
  const auto found =
      std::find_if(last.begin(), last.end(), [&](const char* name) { return heading.starts_with(name); });
  return found == last.end() ? 0 : static_cast<int>(found - last.begin()) + 1;
}

/// The options, with --help, in the order in which a text lists them. Those for the papers have groups of their own.
std::vector<option_group> group_options(const command& c, bool with_papers = true) {
  std::vector<option_group> groups;
  const auto add = [&](const option_spec& spec) {
    const std::string heading = spec.group + (spec.paper ? papers : "");
    const auto same = [&](const option_group& g) { return g.heading == heading; };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    option_group& group = found != groups.end() ? *found : groups.emplace_back(option_group{heading, {}});
    group.options.push_back(&spec);
  };
  for (const option_spec& spec : c.options())
    if (with_papers || !spec.paper) add(spec);
  add(help_spec);
  std::stable_sort(groups.begin(), groups.end(), [](const option_group& a, const option_group& b) {
    return group_order(a.heading) < group_order(b.heading);
  });
  return groups;
}

/// "only with --paths and --metric power or jeong"
std::string needs_text(const option_spec& spec) {
  std::vector<std::string> needs;
  for (const option_condition& c : spec.needs) needs.push_back(c.text());
  return fmt::format("only with {}", fmt::join(needs, " and "));
}

/// Also plain words can be given by their names.
std::string shown_with_name(option_spec spec) {
  spec.place = 0;
  return spec.shown();
}

/// What is accepted, the default and what is needed: "1 to 100; only with --fit iwls; default 2".
std::string value_facts(const option_spec& spec) {
  std::vector<std::string> parts;
  if (const std::string accepted = spec.accepted(); !accepted.empty()) parts.push_back(accepted);
  if (!spec.needs.empty()) parts.push_back(needs_text(spec));
  if (!spec.standard.empty()) parts.push_back("default " + spec.standard);
  if (spec.repeats && !spec.many) parts.emplace_back("may be repeated");
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// " [text]", or "" for no text.
std::string bracketed(const std::string& text) { return text.empty() ? "" : fmt::format(" [{}]", text); }

/// Lines of words, of which none is longer than `width`, where words allow.
std::vector<std::string> wrap(const std::vector<std::string>& words, std::size_t width) {
  std::vector<std::string> lines{""};
  for (const std::string& word : words) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string indented(const std::vector<std::string>& lines, std::size_t indent) {
  return fmt::format("{}\n", fmt::join(lines, "\n" + std::string(indent, ' ')));
}

/// One line for each form of the command.
std::vector<std::vector<std::string>> usage_parts(const command& c) {
  if (*c.other_usage != '\0') return {{c.other_usage, "[options]"}};
  return c.table().usage();
}

std::string usage_text(const command& c) {
  std::string text;
  for (const std::vector<std::string>& parts : usage_parts(c)) {
    const std::string begin = fmt::format("{} voxherd {} ", text.empty() ? "usage:" : "      ", c.name);
    text += begin + indented(wrap(parts, line_width - begin.size()), begin.size());
  }
  return text;
}

/// The lines of an example, indented.
std::string example_lines(const command& c) {
  std::istringstream lines(c.example);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "  " + line + '\n';
  return text;
}

std::string plain_text(const command& c, bool with_papers) {
  const std::string begin = fmt::format("voxherd {}: ", c.name);
  std::string text = indented(wrap_text(begin + c.summary, line_width), 2) + "\n" + usage_text(c);
  for (const option_group& group : group_options(c, with_papers)) {
    text += fmt::format("\n{}:\n", group.heading);
    for (const option_spec* spec : group.options) {
      const std::string name = fmt::format("  {}", shown_with_name(*spec)), more = value_facts(*spec);
      text += name;
      text += name.size() + 2 <= help_column ? std::string(help_column - name.size(), ' ')
                                             : "\n" + std::string(help_column, ' ');
      text += indented(wrap_text(spec->help + bracketed(more), line_width - help_column), help_column);
    }
  }
  const auto hidden =
      std::count_if(c.options().begin(), c.options().end(), [](const auto& spec) { return spec.paper; });
  if (hidden > 0 && !with_papers)
    text += fmt::format("\n{}, for experiments and tuning: voxherd {} --help-all\n",
                        counted(static_cast<std::uint64_t>(hidden), "more option"), c.name);
  if (c.notes != nullptr) text += "\n" + c.notes();
  if (*c.example != '\0') text += "\nExample:\n" + example_lines(c);
  return text;
}

std::string escaped(std::string text, const std::string& characters, const std::string& escape) {
  for (std::size_t i = 0; (i = text.find_first_of(characters, i)) != std::string::npos; i += escape.size() + 1)
    text.insert(i, escape);
  return text;
}

std::string markdown_cell(const std::string& text) { return escaped(text, "|<>", "\\"); }

std::string markdown_text(const command& c) {
  std::string text = fmt::format("## voxherd {}\n\n{}.\n\n```sh\n", c.name, c.summary);
  for (const auto& parts : usage_parts(c)) text += fmt::format("voxherd {} {}\n", c.name, fmt::join(parts, " "));
  text += "```\n";
  for (const option_group& group : group_options(c)) {
    text += fmt::format("\n### {}\n\n| option | default | values | what it does |\n|---|---|---|---|\n", group.heading);
    for (const option_spec* spec : group.options) {
      std::string help = spec->help;
      if (spec->repeats && !spec->many) help += "; may be repeated";
      if (!spec->needs.empty()) help += "; " + needs_text(*spec);
      text += fmt::format("| `{}` | {} | {} | {} |\n", shown_with_name(*spec), markdown_cell(spec->standard),
                          markdown_cell(spec->accepted()), markdown_cell(help));
    }
  }
  if (c.outputs == nullptr) return text;
  text += "\n### Outputs\n\n| output | type | values | unit | meaning |\n|---|---|---|---|---|\n";
  for (const output_spec& o : c.outputs())
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", o.name, type_name(o.type),
                        o.shape.empty() ? "1" : fmt::format("{}", fmt::join(o.shape, " x ")), markdown_cell(o.unit),
                        markdown_cell(o.meaning));
  return text;
}

/// Text as troff prints it unchanged.
std::string troff(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '\\') {
      safe += "\\e";
    } else if (letter == '-') {
      safe += "\\-";
    } else {
      safe += letter;
    }
  }
  return safe.starts_with('.') || safe.starts_with('\'') ? fmt::format("\\&{}", safe) : safe;
}

std::string command_manual_page(const command& c) {
  std::string upper = c.name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char l) { return std::toupper(l); });
  // Without .ad l, lines are filled with blanks to the same length.
  std::string text = fmt::format(".TH VOXHERD\\-{} 1 \"\" \"voxherd {}\" \"User Commands\"\n.ad l\n", upper, version);
  text += fmt::format(".SH NAME\nvoxherd\\-{} \\- {}\n", c.name, troff(c.summary));
  text += ".SH SYNOPSIS\n";
  for (const auto& parts : usage_parts(c))
    text += fmt::format(".B voxherd {}\n{}\n.br\n", c.name, troff(fmt::format("{}", fmt::join(parts, " "))));
  if (*c.example != '\0') text += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", troff(c.example));
  text += ".SH OPTIONS\n";
  for (const option_group& group : group_options(c)) {
    text += fmt::format(".SS \"{}\"\n", troff(group.heading));
    for (const option_spec* spec : group.options) {
      const std::string more = value_facts(*spec);
      text += fmt::format(".TP\n.B {}\n{}\n", troff(shown_with_name(*spec)), troff(spec->help + bracketed(more)));
    }
  }
  return text + ".SH SEE ALSO\n.BR voxherd (1)\n";
}

std::string value_key(const option_spec& spec) {
  std::string key = spec.name;
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char l) { return l == '-' ? '_' : static_cast<char>(std::toupper(l)); });
  return fmt::format("[{}]", key);
}

std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

nlohmann::ordered_json boutiques_input(const option_spec& spec) {
  // No "default-value": a launcher would put it on every command line, also where the option does not apply.
  nlohmann::ordered_json input{
      {"id", identifier(spec.name)}, {"name", spec.name}, {"description", spec.help + bracketed(value_facts(spec))}};
  const bool names_input = spec.type == option_type::file && spec.name != "out";
  const bool is_number = spec.type == option_type::integer || spec.type == option_type::real;
  input["type"] = !spec.takes_value() ? "Flag" : is_number ? "Number" : names_input ? "File" : "String";
  if (spec.type == option_type::integer) input["integer"] = true;
  if (!spec.words.empty()) input["value-choices"] = spec.words;
  if (spec.limits) {
    input["minimum"] = spec.limits->or_zero ? 0 : spec.limits->min;
    if (!std::isinf(spec.limits->max)) input["maximum"] = spec.limits->max;
  }
  if (spec.repeats) input["list"] = true;
  for (const option_condition& need : spec.needs)
    if (need.words.empty() && need.names.size() == 1)
      input["requires-inputs"].push_back(identifier(need.names.front()));
  input["optional"] = !spec.required;
  input["value-key"] = value_key(spec);
  if (spec.place == 0) input["command-line-flag"] = fmt::format("--{}", spec.name);
  return input;
}

/// The options with which the choices begin.
nlohmann::ordered_json boutiques_group(const option_choices& choices) {
  std::vector<std::string> members;
  for (const auto& choice : choices.choices)
    for (const std::string& name : choice.front()) members.push_back(identifier(name));
  const bool may_be_several = choices.rule == choice_rule::at_least_one;
  return {{"id", (may_be_several ? "some_of_" : "one_of_") + members.front()},
          {"name", fmt::format("{} of {}", may_be_several ? "at least one" : "one", fmt::join(members, ", "))},
          {"members", members},
          {"mutually-exclusive", !may_be_several},
          {"one-is-required", !choices.is_optional()}};
}

std::string boutiques_text(const command& c) {
  nlohmann::ordered_json j{{"name", fmt::format("voxherd {}", c.name)},
                           {"description", c.summary},
                           {"tool-version", version},
                           {"schema-version", "0.5"}};
  std::string line = fmt::format("voxherd {}", c.name);
  std::map<int, std::string> placed;
  for (const option_spec& spec : c.options())
    if (spec.place > 0) placed[spec.place] = value_key(spec);
  for (const auto& [place, key] : placed) line += fmt::format(" {}", key);
  nlohmann::ordered_json inputs = nlohmann::ordered_json::array(), outputs = nlohmann::ordered_json::array();
  for (const option_spec& spec : c.options()) {
    if (spec.place == 0) line += fmt::format(" {}", value_key(spec));
    inputs.push_back(boutiques_input(spec));
    if (spec.name == "out")
      outputs.push_back({{"id", "output_file"},
                         {"name", "result"},
                         {"description", spec.help},
                         {"path-template", value_key(spec)},
                         {"optional", false}});
  }
  j["command-line"] = line;
  j["inputs"] = inputs;
  if (!outputs.empty()) j["output-files"] = outputs;
  for (const option_choices& choices : c.table().choices()) j["groups"].push_back(boutiques_group(choices));
  return dump_json(j, 2) + "\n";
}

}  // namespace

std::vector<std::string> wrap_text(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  return wrap(std::vector<std::string>(std::istream_iterator<std::string>(words), {}), width);
}

std::string help_text(std::span<const command* const> commands) {
  std::string text =
      "voxherd: analyses of medical images on many GPUs and CPU cores\n"
      "usage: [mpirun -n RANKS] voxherd COMMAND [options]\n\n";
  constexpr std::size_t column = 16;
  for (const command* c : commands)
    text += fmt::format("  {:<13} {}", c->name, indented(wrap_text(c->summary, line_width - column), column));
  text +=
      "\n"
      "voxherd COMMAND --help             options of a command\n"
      "voxherd --version                  version and commit\n"
      "voxherd --completion bash|zsh      completion script for a shell\n\n"
      "Exit status: 0 complete, 1 different (compare), 2 usage, 65 bad data,\n"
      "66 missing input, 70 internal error, 71 device error, 74 disk, 75 stopped.\n";
  return text;
}

std::string manual_page(std::span<const command* const> commands) {
  std::string text = fmt::format(".TH VOXHERD 1 \"\" \"voxherd {}\" \"User Commands\"\n.ad l\n", version);
  text +=
      ".SH NAME\nvoxherd \\- analyses of medical images on many GPUs and CPU cores\n"
      ".SH SYNOPSIS\n[mpirun \\-n RANKS]\n.B voxherd COMMAND\n[options]\n"
      ".SH COMMANDS\nThe options of a command are in its own page.\n";
  for (const command* c : commands)
    text += fmt::format(".TP\n.BR voxherd\\-{} (1)\n{}\n", troff(c->name), troff(c->summary));
  text +=
      ".SH OPTIONS\n"
      ".TP\n.B \\-\\-version\nprint the version and the commit that the program was built from\n"
      ".TP\n.B \\-\\-completion bash|zsh\nprint a completion script for a shell\n"
      ".TP\n.B \\-\\-help[=man]\nlist the commands, or print this page\n"
      ".SH EXIT STATUS\n0 complete, 1 different (compare), 2 usage, 65 bad data, 66 missing input, 70 internal error,\n"
      "71 device error, 74 disk, 75 stopped (\\-\\-resume continues).\n"
      ".SH SEE ALSO\n/usr/share/doc/voxherd/docs\n";
  return text;
}

std::string help_text(const command& c, help_format format) {
  switch (format) {
    case help_format::markdown:
      return markdown_text(c);
    case help_format::man:
      return command_manual_page(c);
    case help_format::json:
      return boutiques_text(c);
    case help_format::text:
    case help_format::all:
      break;
  }
  return plain_text(c, format == help_format::all);
}

help_format parse_help_format(const std::string& word) {
  if (word == "text") return help_format::text;
  if (word == "markdown") return help_format::markdown;
  if (word == "man") return help_format::man;
  if (word == "json") return help_format::json;
  refuse_usage("--help={}: expected one of text, markdown, man, json", word);
}

}  // namespace voxherd
