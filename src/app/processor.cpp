#include "src/app/processor.hpp"

#include <fmt/core.h>

namespace voxherd {

bool processor_has([[maybe_unused]] std::string_view level) {
#if defined(__x86_64__)
  // The compiler wants literals.
  if (level == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2");
  if (level == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
  if (level == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
#endif
  return true;
}

std::string why_kernels_cannot_run(std::string_view built_for, bool (*has)(std::string_view)) {
  if (has(built_for)) return "";
  std::string here = "x86-64";
  for (const char* const level : {"x86-64-v2", "x86-64-v3"}) {
    if (has(level)) here = level;
  }
  return fmt::format(
      "this program was built for {} processors, and this one is {}; build it for the oldest that it shall run on, "
      "e.g. script/setup --cpu-arch {}",
      built_for, here, here);
}

}  // namespace voxherd
