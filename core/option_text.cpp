#include "core/option_text.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace voxherd {

namespace {

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

}  // namespace

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

std::string name_and_value(const option_spec& spec) {
  return fmt::format("--{}{}{}{}", spec.name, spec.takes_value() ? " " : "", spec.value, spec.many ? " ..." : "");
}

std::string value_facts(const option_spec& spec) {
  std::vector<std::string> parts;
  if (const std::string accepted = spec.accepted(); !accepted.empty()) parts.push_back(accepted);
  if (!spec.standard.empty()) parts.push_back("default " + spec.standard);
  if (spec.repeats && !spec.many) parts.emplace_back("may be repeated");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string bracketed(const std::string& text) { return text.empty() ? "" : fmt::format(" [{}]", text); }

}  // namespace voxherd
