#pragma once

#include <cstdint>
#include <string>

namespace voxherd {

/// The content of a text file. Throws failure (missing_input, disk), also (bad_data) for a file of more than
/// `max_bytes`.
std::string read_text_file(const std::string& path, std::uint64_t max_bytes = std::uint64_t{64} << 20);

}  // namespace voxherd
