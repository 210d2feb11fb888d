#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace voxherd {

inline constexpr std::uint64_t largest_text_bytes = std::uint64_t{64} << 20;

/// The content of a text file, whoever wrote it: see plain_text(). All texts that users name are read here. Throws
/// failure (missing_input, disk), also (bad_data) for binary data, UTF-16, and more than `max_bytes`. `expected`: what
/// the file should be, "a table of subjects".
std::string read_text_file(const std::string& path, const char* expected = "a text file",
                           std::uint64_t max_bytes = largest_text_bytes);

/// Its lines without their ends; the first is line 1 in messages.
std::vector<std::string> read_text_lines(const std::string& path, const char* expected,
                                         std::uint64_t max_bytes = largest_text_bytes);

}  // namespace voxherd
