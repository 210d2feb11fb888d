#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <utility>

namespace voxherd {

/// Prints to standard error. Text that cannot be printed is lost: a closed standard error or a log on a full disk must
/// not end a computation.
template <class... T>
void print_error_output(fmt::format_string<T...> format, T&&... values) {
  const std::string text = fmt::format(format, std::forward<T>(values)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace voxherd
