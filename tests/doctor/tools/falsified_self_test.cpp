// usage: falsified_self_test ANALYSIS: voxherd doctor --self-test in which the first stored number of an analysis is
// wrong.
#include <fmt/core.h>

#include <string_view>

#include "core/current_failure.hpp"
#include "core/failure.hpp"
#include "mpi/comm/session.hpp"
#include "src/commands/doctor/self_test.hpp"

int main(int argc, char** argv) {
  using namespace voxherd;
  session s(&argc, &argv);
  std::vector<self_test_case> cases = self_test_cases();
  for (self_test_case& c : cases)
    if (argc > 1 && argv[1] == std::string_view(c.command)) c.means.front().value *= 1.2;
  try {
    return static_cast<int>(run_self_test(s, cases));
  } catch (...) {
    const failure f = current_failure();
    fmt::print(stderr, "{}\n", f.what());
    return static_cast<int>(f.status);
  }
}
