#pragma once

#include <stdexcept>
#include <string>

namespace voxherd {

/// Exit statuses, after sysexits.h; batch scripts depend on them.
enum class exit_status : int {
  complete = 0,
  different = 1,        ///< `voxherd compare`: the two results are not the same
  usage = 2,            ///< an option is wrong
  bad_data = 65,        ///< an input's content is wrong
  missing_input = 66,   ///< an input cannot be opened
  internal_error = 70,  ///< a defect of this program
  device_error = 71,    ///< a GPU failed or was lost; another attempt may succeed
  disk = 74,            ///< reading or writing failed
  interrupted = 75,     ///< stopped before the end; the same command with --resume continues
};

/// Anything that ends the program with a message for its user:
/// what is wrong, where (file, field, value found, value expected), what to do. One line.
struct failure : std::runtime_error {
  failure(exit_status s, const std::string& message) : std::runtime_error(message), status(s) {}
  exit_status status;
};

/// Throws failure (bad_data).
[[noreturn]] void refuse_data(const std::string& message);

}  // namespace voxherd
