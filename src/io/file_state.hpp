#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace voxherd {

/// What the file system knows about a file; any write to it changes this.
struct file_state {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  bool operator==(const file_state&) const = default;
};
/// Nothing if the file cannot be opened.
std::optional<file_state> find_file_state(const std::string& path);

/// The entry of an input's fingerprint() with the states of its files. Runs use it, and do not store it.
inline constexpr const char* state_key = "state";

/// Adds a file's state and fingerprint to its description `input`.
void note_state(const std::string& path, const file_state& state, nlohmann::json& input);
/// Appends the states of `input`, if it has some.
void join_states(const nlohmann::json& input, nlohmann::json& states);

}  // namespace voxherd
