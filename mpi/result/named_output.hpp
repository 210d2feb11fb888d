#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace voxherd {

/// A text file that the user named, such as that of --json. An existing file is replaced only if the user allowed it.
/// Devices, pipes and open descriptors (/dev/stdout, /dev/fd/3) are written to and stay what they are.
struct named_output {
  std::string option;      ///< for messages: "--json"
  std::string path;        ///< "" for none: nothing is checked or written
  bool overwrite = false;  ///< an existing file may be replaced
};

/// Throws failure if the file could not be written now: an existing file (usage), a folder (usage), a missing or
/// protected folder (disk). To be called before long work. Leaves the disk as it was.
void check_output(const named_output& output);

/// Writes the text. A file gets its name only when it is complete. Throws failure (disk) with the reason.
void write_output(const named_output& output, std::string_view text);

/// The file that a path leads to: symbolic links are followed, also to a file that does not exist. Throws failure
/// (usage) for links in a circle.
std::string follow_links(const std::string& path);

/// Whether two paths lead to the same file, also if it does not exist.
bool is_same_file(const std::string& a, const std::string& b);

/// Throws failure (usage) if the file is an input of `provenance`.
void check_not_an_input(const named_output& output, const nlohmann::json& provenance);

}  // namespace voxherd
