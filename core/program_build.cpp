#include "core/program_build.hpp"

#include "core/text.hpp"

namespace voxherd {

namespace {

std::string& stored_build() {
  static std::string build;
  return build;
}

}  // namespace

const std::string& program_build() { return stored_build(); }

void set_program_build(std::string_view build) { stored_build() = build; }

std::string program_name(const std::string& number, const std::string& build) {
  return fmt::format("voxherd {}{}", number, build.empty() ? "" : fmt::format(" ({})", build));
}

std::string program_name() { return program_name(version, program_build()); }

}  // namespace voxherd
