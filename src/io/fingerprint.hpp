#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxherd {

/// Identifies an input file so that a later run can detect a change: {"path", "bytes", "fingerprint", "method"}. The
/// fingerprint is the XXH64 of the complete file up to 256 MiB; above that, of the size and of 256 blocks of 1 MiB
/// spread evenly over the file. Throws failure (missing_input, disk).
nlohmann::json fingerprint(const std::string& path);

/// One fingerprint for an ordered list of files: the first path, the number of files, their total size, and the XXH64
/// of their fingerprints.
nlohmann::json fingerprint(const std::vector<std::string>& paths);

}  // namespace voxherd
