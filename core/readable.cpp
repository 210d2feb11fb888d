#include "core/readable.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace voxherd {

std::string readable_bytes(double bytes) {
  constexpr std::array<const char*, 5> units{"B", "kB", "MB", "GB", "TB"};
  std::size_t u = 0;
  for (; bytes >= 1000 && u + 1 < units.size(); ++u) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes, u == 0 ? 0 : 1, units[u]);
}

std::string clock_time(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::clamp(seconds + 0.5, 0.0, 3.6e9));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string counted(std::uint64_t count, const std::string& unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

}  // namespace voxherd
