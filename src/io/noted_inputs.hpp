#pragma once

#include <cstdint>
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

/// The inputs of the current run, to find out at its end whether one of them was rewritten meanwhile. fingerprint()
/// notes each file; `state` is from before it was read. May be called by several threads.
void note_input(const std::string& path, const file_state& state, const std::string& fingerprint);
/// Forgets the inputs of an earlier run of this process.
void forget_inputs();

/// Throws failure (disk) that names the first noted file whose content differs from its fingerprint. Only files whose
/// state has changed are read again. A file that no longer exists is logged.
void check_noted_inputs();

}  // namespace voxherd
