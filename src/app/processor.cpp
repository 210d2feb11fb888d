#include "src/app/program.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "kernels/device/cpu_level.hpp"
#include "kernels/device/processor.hpp"

namespace voxherd {

std::string why_level_cannot_run(std::string_view name, std::string_view required, processor_check supports) {
  if (supports(required)) return "";
  const bool is_arm = required.starts_with("arm");
  std::string here = is_arm ? "armv8-a" : "x86-64";
  for (const char* const level : {"x86-64-v2", "x86-64-v3"}) {
    if (!is_arm && supports(level)) here = level;
  }
  const std::string built_for = name == required ? std::string(name) : fmt::format("{} ({})", required, name);
  return fmt::format(
      "this program was built for {} processors, and this one is {}; build it for the oldest processor that will run "
      "it, e.g. script/setup --cpu-arch {}",
      built_for, here, here);
}

std::string why_kernels_cannot_run() {
  const cpu_level& running = cpu_levels[running_cpu_level];
  const char* const requested = std::getenv("VOXHERD_CPU_LEVEL");
  if (requested != nullptr && std::string_view(requested) != running.name) {
    std::string built;
    for (int i = 0; i < cpu_level_count; ++i) built += fmt::format("{}{}", i == 0 ? "" : ", ", cpu_levels[i].name);
    return fmt::format(
        "VOXHERD_CPU_LEVEL={}: this program contains CPU kernels for {}, of which this processor runs at most those "
        "for {}; "
        "unset the variable",
        requested, built, running.name);
  }
  return why_level_cannot_run(running.name, running.required, processor_supports);
}

}  // namespace voxherd
