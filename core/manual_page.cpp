#include "core/manual_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "core/option_text.hpp"
#include "core/version.hpp"

namespace voxherd {

namespace {

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

}  // namespace

std::string manual_page(std::span<const command* const> commands) {
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

std::string manual_page(const command& c) {
  std::string upper = c.name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char l) { return std::toupper(l); });
  std::string text = fmt::format(".TH VOXHERD\\-{} 1 \"\" \"voxherd {}\" \"User Commands\"\n", upper, version);
  text += fmt::format(".SH NAME\nvoxherd\\-{} \\- {}\n", c.name, troff(c.summary));
  text += fmt::format(".SH SYNOPSIS\n.B voxherd {}\n{}\n", c.name, troff(c.usage));
  for (const option_group& group : group_options(c)) {
    text += fmt::format(".SH \"{} OPTIONS\"\n", troff(group.heading));
    for (const option_spec* spec : group.options) {
      const std::string more = value_facts(*spec);
      text += fmt::format(".TP\n.B {}\n{}\n", troff(name_and_value(*spec)), troff(spec->help + bracketed(more)));
    }
  }
  if (*c.example != '\0') text += fmt::format(".SH EXAMPLE\n.nf\n{}\n.fi\n", troff(c.example));
  return text + ".SH SEE ALSO\n.BR voxherd (1)\n";
}

}  // namespace voxherd
