#include "core/overview_page.hpp"

#include <fmt/core.h>

#include "core/version.hpp"

namespace voxherd {

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

std::string overview_page(std::span<const command* const> commands) {
  std::string text = fmt::format(".TH VOXHERD 1 \"\" \"voxherd {}\" \"User Commands\"\n", version);
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

}  // namespace voxherd
