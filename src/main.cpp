#include <fmt/core.h>

#include "src/command.hpp"

int main(int argc, char** argv) {
  voxherd::session s(&argc, &argv);
  for (const auto* c : voxherd::all_commands()) fmt::print("{}\n", c->name);
}
