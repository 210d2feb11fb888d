#pragma once

#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/commands/doctor/checks.hpp"

namespace voxherd {

/// The mean of all values of an output, or of a matrix or other constant (GROUP/NAME), over a result.
struct stored_mean {
  const char* name;
  double value;
  double tolerance;  ///< relative
};

/// What the self-test runs in its folder: a command that makes inputs, or an analysis with numbers of its result.
struct self_test_case {
  const char* command;
  std::string words;               ///< its options; @ is the folder. --out of an analysis is @/NAME.h5
  std::vector<stored_mean> means;  ///< none: it makes inputs
};

/// In the order in which they are run: a later one may use the files of earlier ones.
const std::vector<self_test_case>& self_test_cases();

/// What is wrong with the mean that was found, as "mean of FA: expected 0.41 ± 0.01, found 0.5"; "" if nothing.
std::string judge_mean(const stored_mean& stored, double found);

/// Runs the cases on the CPU and on each visible GPU, in a temporary folder, and prints one line for each analysis
/// and device. Throws failure (usage) for several ranks, (disk) if there is no room for the folder.
exit_status run_self_test(session& s, const std::vector<self_test_case>& cases);

}  // namespace voxherd
