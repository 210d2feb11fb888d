#include "core/number_text.hpp"

#include <fmt/core.h>

#include <cmath>

namespace voxherd {

std::string number_text(double value, const char* missing) {
  return std::isnan(value) ? missing : fmt::format("{}", value);
}

}  // namespace voxherd
