#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

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

// The four usual failures. Each takes a message as it is, or the arguments of fmt::format.

/// Throws failure (usage): an option, or what options mean together, is wrong.
/// "--start-fibre 3: expected 1 or 2, the fibres of the samples"
[[noreturn]] void refuse_usage(const std::string& message);

/// Throws failure (bad_data): the content of an input is damaged, or does not suit the command.
/// "scan.nii: dim[4] is 1, expected a series of at least 2 volumes"
[[noreturn]] void refuse_data(const std::string& message);

/// Throws failure (missing_input): an input does not exist or cannot be opened.
/// "sub-01: no such folder; expected a folder with data, bvals and bvecs"
[[noreturn]] void refuse_missing(const std::string& message);

/// Throws failure (disk): a write failed, or a read of an open file. `message` contains the system's reason.
[[noreturn]] void fail_on_disk(const std::string& message);

/// The same with the reason of this number (errno), and what to do about a full disk, after the message.
/// "out.nii.gz: cannot be written: No space left on device; free some space and repeat the command"
[[noreturn]] void fail_on_disk(int error, const std::string& message);

template <class... Values>
[[noreturn]] void refuse_usage(fmt::format_string<Values...> message, Values&&... values) {
  refuse_usage(fmt::format(message, std::forward<Values>(values)...));
}

template <class... Values>
[[noreturn]] void refuse_data(fmt::format_string<Values...> message, Values&&... values) {
  refuse_data(fmt::format(message, std::forward<Values>(values)...));
}

template <class... Values>
[[noreturn]] void refuse_missing(fmt::format_string<Values...> message, Values&&... values) {
  refuse_missing(fmt::format(message, std::forward<Values>(values)...));
}

template <class... Values>
[[noreturn]] void fail_on_disk(fmt::format_string<Values...> message, Values&&... values) {
  fail_on_disk(fmt::format(message, std::forward<Values>(values)...));
}

template <class... Values>
[[noreturn]] void fail_on_disk(int error, fmt::format_string<Values...> message, Values&&... values) {
  fail_on_disk(error, fmt::format(message, std::forward<Values>(values)...));
}

}  // namespace voxherd
