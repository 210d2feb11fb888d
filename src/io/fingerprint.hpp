#pragma once

#include <cstdint>
#include <future>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace voxherd {

/// Identifies an input file so that a later run can detect a change: {"path", "bytes", "fingerprint", "method"}. The
/// fingerprint is the XXH64 of the complete file up to 256 MiB; above that, of the size and of 256 blocks of 1 MiB
/// spread evenly over the file. Throws failure (missing_input, disk).
nlohmann::json find_fingerprint(const std::string& path);
/// The same of an input of a run, with the file's "state" from before it was read, for check_inputs()
/// (noted_inputs.hpp). A run does not store the state.
nlohmann::json fingerprint(const std::string& path);
/// Why an input cannot be read again as it was: "FILE no longer exists", "FILE has changed since the result was
/// computed"; "" if it is the same. `input`: what fingerprint() returned, as results store it.
std::string describe_change(const nlohmann::json& input);
/// Whether the fingerprint of a file of this size covers all of its bytes.
bool is_fingerprint_of_all_bytes(std::uint64_t bytes);

/// One fingerprint for an ordered list of files: the first path, the number of files, their total size, the XXH64 of
/// their fingerprints, and all "paths"; with the state of each.
nlohmann::json fingerprint(const std::vector<std::string>& paths);
/// The same, found by another thread. The states are those of now, before the files are read; the thread throws failure
/// (disk) if one of them has changed when its fingerprint is known.
std::future<nlohmann::json> fingerprint_later(const std::vector<std::string>& paths);
/// The files of an input, as results store it.
std::vector<std::string> list_input_files(const nlohmann::json& input);

}  // namespace voxherd
