#include "core/failure.hpp"

#include <cerrno>
#include <cstring>

namespace voxherd {

void refuse_usage(const std::string& message) { throw failure(exit_status::usage, message); }

void refuse_data(const std::string& message) { throw failure(exit_status::bad_data, message); }

void refuse_missing(const std::string& message) { throw failure(exit_status::missing_input, message); }

void fail_on_disk(const std::string& message) { throw failure(exit_status::disk, message); }

void fail_on_disk(int error, const std::string& message) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  fail_on_disk("{}: {}{}", message, std::strerror(error), is_full ? "; free some space and repeat the command" : "");
}

}  // namespace voxherd
