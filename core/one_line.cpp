#include "core/one_line.hpp"

#include <fmt/core.h>

namespace voxherd {

std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_control = code < 0x20 || code == 0x7f;
    line += is_control ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return line;
}

}  // namespace voxherd
