// Reads command lines as the program does before it runs a command: a JSON array of words per line of standard input.
// Prints
// {"status", "message"} for each. Starting the program takes a hundred times as long.
#include <fmt/core.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/command_line.hpp"
#include "core/current_failure.hpp"
#include "core/text.hpp"

namespace {

using namespace voxherd;

nlohmann::json read_options(const std::vector<std::string>& words) {
  try {
    prepare_command(find_command(all_commands(), words.at(0)), {words.begin() + 1, words.end()});
    return {{"status", 0}, {"message", ""}};
  } catch (...) {
    const failure f = current_failure();
    return {{"status", static_cast<int>(f.status)}, {"message", one_line(f.what())}};
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    fmt::print("{}\n", read_options(nlohmann::json::parse(line)).dump());
    std::fflush(stdout);
  }
}
