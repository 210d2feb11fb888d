#include "core/help.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "core/manual_page.hpp"
#include "core/option_text.hpp"
#include "core/required_options.hpp"
#include "core/version.hpp"

namespace voxherd {

namespace {

constexpr std::size_t line_width = 80, help_column = 25;

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
std::string example_lines(const command& c) {
  std::istringstream lines(c.example);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "  " + line + '\n';
  return text;
}

std::string plain_text(const command& c) {
  const std::string begin = fmt::format("voxherd {}: ", c.name);
  std::string text = indented(wrap(begin + c.summary, line_width), 2) + "\n" + usage_text(c);
  for (const option_group& group : group_options(c)) {
    text += fmt::format("\n{}:\n", group.heading);
    for (const option_spec* spec : group.options) {
      const std::string name = fmt::format("  {}", name_and_value(*spec)), more = value_facts(*spec);
      text += name;
      text += name.size() + 2 <= help_column ? std::string(help_column - name.size(), ' ')
                                             : "\n" + std::string(help_column, ' ');
      text += indented(wrap(spec->help + bracketed(more), line_width - help_column), help_column);
    }
  }
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
      return manual_page(c);
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

}  // namespace voxherd
