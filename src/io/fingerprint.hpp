#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxherd {

/// {"path", "bytes", "fingerprint", "method"}: enough to see later that an input is another one. XXH64 of the whole
/// file up to 256 MiB; above, of its size and of 256 blocks of 1 MiB spread evenly from the first byte to the last.
/// Throws failure (missing_input, disk).
nlohmann::json fingerprint(const std::string& path);

/// Of several files in their order, as one: the first one's path, how many, all bytes, and XXH64 of their fingerprints.
nlohmann::json fingerprint(const std::vector<std::string>& paths);

}  // namespace voxherd
