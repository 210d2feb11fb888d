#include "core/help.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "core/overview_page.hpp"
#include "core/required_options.hpp"
#include "core/version.hpp"

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
  spec.help = "print this help; --help=markdown, --help=man and --help=json print other formats";
  spec.group = "Help";
  return spec;
}();

/// Input first, the groups shared by all analyses last.
int group_order(const std::string& heading) {
  constexpr std::array<const char*, 3> last{"Output", "Running", "Help"};
  if (heading == "Input") return -1;
  const auto found = std::find(last.begin(), last.end(), heading);
  return found == last.end() ? 0 : static_cast<int>(found - last.begin()) + 1;
}

std::vector<option_group> group_options(const command& c) {
  std::vector<option_group> groups;
  const auto add = [&](const option_spec& spec) {
    const auto same = [&](const option_group& g) { return g.heading == spec.group; };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    option_group& group = found != groups.end() ? *found : groups.emplace_back(option_group{spec.group, {}});
    group.options.push_back(&spec);
  };
  for (const option_spec& spec : c.options()) add(spec);
  add(help_spec);
  std::stable_sort(groups.begin(), groups.end(), [](const option_group& a, const option_group& b) {
    return group_order(a.heading) < group_order(b.heading);
  });
  return groups;
}

/// Breaks text at blanks so that no line is longer than `width`, where words allow.
std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines{""};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

std::string indented(const std::vector<std::string>& lines, std::size_t indent) {
  return fmt::format("{}\n", fmt::join(lines, "\n" + std::string(indent, ' ')));
}

/// "--fit WORD"
std::string name_and_value(const option_spec& spec) {
  return fmt::format("--{}{}{}{}", spec.name, spec.takes_value() ? " " : "", spec.value, spec.many ? " ..." : "");
}

/// What is accepted and the default: "1 to 100; default 2".
std::string facts(const option_spec& spec) {
  std::vector<std::string> parts;
  if (const std::string accepted = spec.accepted(); !accepted.empty()) parts.push_back(accepted);
  if (!spec.standard.empty()) parts.push_back("default " + spec.standard);
  if (spec.repeats && !spec.many) parts.emplace_back("may be repeated");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string bracketed(const std::string& text) { return text.empty() ? "" : fmt::format(" [{}]", text); }

std::string usage_text(const command& c) {
  const std::string begin = fmt::format("usage: voxherd {} ", c.name);
  // An option and its value stay on one line.
  std::string text = c.usage;
  for (std::size_t i = 1; i + 1 < text.size(); ++i)
    if (text[i] == ' ' && text[i + 1] != '-' && text[i + 1] != '[' && text[i + 1] != '(' && text[i + 1] != '|' &&
        text.rfind("--", i) != std::string::npos && text.find(' ', text.rfind("--", i)) == i)
      text[i] = '\x01';
  std::string lines = indented(wrap(text, line_width - begin.size()), begin.size());
  std::replace(lines.begin(), lines.end(), '\x01', ' ');
  return begin + lines;
}

/// The lines of an example, indented.
std::string example_lines(const command& c, const std::string& indent) {
  std::istringstream lines(c.example);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += indent + line + '\n';
  return text;
}

std::string plain_text(const command& c) {
  const std::string begin = fmt::format("voxherd {}: ", c.name);
  std::string text = indented(wrap(begin + c.summary, line_width), 2) + "\n" + usage_text(c);
  for (const option_group& group : group_options(c)) {
    text += fmt::format("\n{}:\n", group.heading);
    for (const option_spec* spec : group.options) {
      const std::string name = fmt::format("  {}", name_and_value(*spec)), more = facts(*spec);
      text += name;
      text += name.size() + 2 <= help_column ? std::string(help_column - name.size(), ' ')
                                             : "\n" + std::string(help_column, ' ');
      text += indented(wrap(spec->help + bracketed(more), line_width - help_column), help_column);
    }
  }
  if (c.notes != nullptr) text += "\n" + c.notes();
  if (*c.example != '\0') text += "\nExample:\n" + example_lines(c, "  ");
  return text;
}

std::string escaped(std::string text, const std::string& characters, const std::string& escape) {
  for (std::size_t i = 0; (i = text.find_first_of(characters, i)) != std::string::npos; i += escape.size() + 1)
    text.insert(i, escape);
  return text;
}

std::string markdown_cell(const std::string& text) { return escaped(text, "|<>", "\\"); }

std::string markdown_text(const command& c) {
  std::string text =
      fmt::format("## voxherd {}\n\n{}.\n\n```sh\nvoxherd {} {}\n```\n", c.name, c.summary, c.name, c.usage);
  for (const option_group& group : group_options(c)) {
    text += fmt::format("\n### {}\n\n| option | default | values | what it does |\n|---|---|---|---|\n", group.heading);
    for (const option_spec* spec : group.options) {
      std::string help = spec->help;
      if (spec->repeats && !spec->many) help += "; may be repeated";
      text += fmt::format("| `{}` | {} | {} | {} |\n", name_and_value(*spec), markdown_cell(spec->standard),
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

std::string man_text(const command& c) {
  std::string upper = c.name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char l) { return std::toupper(l); });
  std::string text = fmt::format(".TH VOXHERD\\-{} 1 \"\" \"voxherd {}\" \"User Commands\"\n", upper, version);
  text += fmt::format(".SH NAME\nvoxherd\\-{} \\- {}\n", c.name, troff(c.summary));
  text += fmt::format(".SH SYNOPSIS\n.B voxherd {}\n{}\n", c.name, troff(c.usage));
  for (const option_group& group : group_options(c)) {
    text += fmt::format(".SH \"{} OPTIONS\"\n", troff(group.heading));
    for (const option_spec* spec : group.options) {
      const std::string more = facts(*spec);
      text += fmt::format(".TP\n.B {}\n{}\n", troff(name_and_value(*spec)), troff(spec->help + bracketed(more)));
    }
  }
  if (*c.example != '\0') text += ".SH EXAMPLE\n.nf\n" + troff(example_lines(c, "")) + ".fi\n";
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

nlohmann::ordered_json boutiques_input(const command& c, const option_spec& spec) {
  // No "default-value": a launcher would put it on every command line, also where the option does not apply.
  nlohmann::ordered_json input{
      {"id", identifier(spec.name)}, {"name", spec.name}, {"description", spec.help + bracketed(facts(spec))}};
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
  input["optional"] = !is_required(c, spec);
  input["value-key"] = value_key(spec);
  if (!is_positional(c, spec)) input["command-line-flag"] = fmt::format("--{}", spec.name);
  return input;
}

std::string boutiques_text(const command& c) {
  nlohmann::ordered_json j{{"name", fmt::format("voxherd {}", c.name)},
                           {"description", c.summary},
                           {"tool-version", version},
                           {"schema-version", "0.5"}};
  std::string line = fmt::format("voxherd {}", c.name);
  std::istringstream positional(c.positional);
  for (std::string name; std::getline(positional, name, ',');)
    for (const option_spec& spec : c.options())
      if (spec.name == name) line += fmt::format(" {}", value_key(spec));
  nlohmann::ordered_json inputs = nlohmann::ordered_json::array(), outputs = nlohmann::ordered_json::array();
  for (const option_spec& spec : c.options()) {
    if (!is_positional(c, spec)) line += fmt::format(" {}", value_key(spec));
    inputs.push_back(boutiques_input(c, spec));
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
  return j.dump(2) + "\n";
}

std::string zsh_quoted(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '\'') {
      safe += "'\\''";
      continue;
    }
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') safe += '\\';
    safe += letter;
  }
  return safe;
}

std::string zsh_argument(const option_spec& spec) {
  std::string text = fmt::format("'{}--{}[{}]", spec.repeats ? "*" : "", spec.name, zsh_quoted(spec.help));
  if (!spec.words.empty()) {
    text += fmt::format(":{}:({})", spec.value, fmt::join(spec.words, " "));
  } else if (spec.type == option_type::file) {
    text += fmt::format(":{}:_files", spec.value);
  } else if (spec.takes_value()) {
    text += fmt::format(":{}: ", zsh_quoted(spec.value));
  }
  return text + "'";
}

std::string bash_completion(std::span<const command* const> commands) {
  std::string text =
      "# bash completion of voxherd. To use it now: source <(voxherd --completion bash)\n"
      "_voxherd() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options='' words=''\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n";
  text += "    words='";
  for (const command* c : commands) text += std::string(c->name) + ' ';
  text += "--help --version --completion'\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    return\n  fi\n";
  text += "  case ${COMP_WORDS[1]} in\n";
  for (const command* c : commands) {
    text += fmt::format("  {})\n    options='", c->name);
    for (const option_spec& spec : c->options()) text += fmt::format("--{} ", spec.name);
    text += "--help'\n    case $before in\n";
    for (const option_spec& spec : c->options())
      if (!spec.words.empty()) text += fmt::format("    --{}) words='{}' ;;\n", spec.name, fmt::join(spec.words, " "));
    text += "    esac ;;\n";
  }
  text +=
      "  --completion) words='bash zsh' ;;\n"
      "  esac\n"
      "  if [[ -n $words ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  elif [[ $word == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _voxherd voxherd\n";
  return text;
}

std::string zsh_completion(std::span<const command* const> commands) {
  std::string text =
      "#compdef voxherd\n# zsh completion of voxherd. To use it now: source <(voxherd --completion zsh)\n_voxherd() {\n"
      "  local -a commands\n  commands=(\n";
  for (const command* c : commands) text += fmt::format("    '{}:{}'\n", c->name, zsh_quoted(c->summary));
  text +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const command* c : commands) {
    text += fmt::format("  {})\n    _arguments \\\n", c->name);
    for (const option_spec& spec : c->options()) text += fmt::format("      {} \\\n", zsh_argument(spec));
    text += "      '--help[print the help]' '*:file:_files' ;;\n";
  }
  // As an installed file, this is the text of the function on its first call.
  return text +
         "  esac\n}\n"
         "if [[ $funcstack[1] == _voxherd ]]; then _voxherd \"$@\"; else compdef _voxherd voxherd; fi\n";
}

}  // namespace

std::string help_text(std::span<const command* const> commands) {
  std::string text =
      "voxherd: analyses of medical images on many GPUs and CPU cores\n"
      "usage: [mpirun -n RANKS] voxherd COMMAND [options]\n\n";
  constexpr std::size_t column = 15;
  for (const command* c : commands)
    text += fmt::format("  {:<12} {}", c->name, indented(wrap(c->summary, line_width - column), column));
  text +=
      "\n"
      "voxherd COMMAND --help             options of a command\n"
      "voxherd --version                  version and commit\n"
      "voxherd --completion bash|zsh      completion script for a shell\n\n"
      "Exit status: 0 complete, 1 different (compare), 2 usage, 65 bad data,\n"
      "66 missing input, 70 internal error, 71 device error, 74 disk,\n"
      "75 stopped (--resume continues).\n";
  return text;
}

std::string help_text(const command& c, help_format format) {
  switch (format) {
    case help_format::markdown:
      return markdown_text(c);
    case help_format::man:
      return man_text(c);
    case help_format::json:
      return boutiques_text(c);
    case help_format::text:
      break;
  }
  return plain_text(c);
}

help_format parse_help_format(const std::string& word) {
  if (word == "text") return help_format::text;
  if (word == "markdown") return help_format::markdown;
  if (word == "man") return help_format::man;
  if (word == "json") return help_format::json;
  throw failure(exit_status::usage, fmt::format("--help={}: expected one of text, markdown, man, json", word));
}

std::string completion_script(std::span<const command* const> commands, const std::string& shell) {
  if (shell == "bash") return bash_completion(commands);
  if (shell == "zsh") return zsh_completion(commands);
  throw failure(exit_status::usage, fmt::format("--completion {}: expected one of bash, zsh", shell));
}

}  // namespace voxherd
