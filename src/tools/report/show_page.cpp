#include "src/tools/report/show_page.hpp"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace voxherd::report {

namespace {

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return true;
  return false;
}

/// Whether xdg-open started and did not fail. It ends at once, or with the browser, for which nobody waits.
bool open_in_browser(const std::string& file) {
  std::string program = "xdg-open", argument = file;
  char* words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, "xdg-open", nullptr, nullptr, words, environ) != 0) return false;
  constexpr int tries = 60;
  constexpr useconds_t between_us = 50000;
  for (int i = 0; i < tries; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    usleep(between_us);
  }
  return true;
}

}  // namespace

void show_page(const std::string& path) {
  // An absolute path never looks like an option.
  const std::string file = std::filesystem::absolute(path).string();
  if (has_display() && open_in_browser(file)) return;
  fmt::print("there is no {}; open {} in a browser\n", has_display() ? "browser that xdg-open can start" : "display",
             file);
}

}  // namespace voxherd::report
