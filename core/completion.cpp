#include "core/help.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace voxherd {

namespace {

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
  // In an installed file, this is the text of the function on its first call.
  return text +
         "  esac\n}\n"
         "if [[ $funcstack[1] == _voxherd ]]; then _voxherd \"$@\"; else compdef _voxherd voxherd; fi\n";
}

}  // namespace

std::string completion_script(std::span<const command* const> commands, const std::string& shell) {
  if (shell == "bash") return bash_completion(commands);
  if (shell == "zsh") return zsh_completion(commands);
  refuse_usage("--completion {}: expected one of bash, zsh", shell);
}

}  // namespace voxherd
