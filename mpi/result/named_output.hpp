#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace voxherd {

/// Whose choice a file's name is. A link that has the name of an implied file, such as OUT.cost.json, was not made for
/// it: the link is replaced, and the file that it leads to stays.
enum class file_name : std::uint8_t { given, implied };

/// A text file that a command writes beside its result. An existing file is replaced only if the user allowed it.
/// Devices, pipes and open descriptors (/dev/stdout, /dev/fd/3) are written to and stay what they are.
struct named_output {
  std::string option;      ///< for messages: "--json"
  std::string path;        ///< "" for none: nothing is checked or written
  bool overwrite = false;  ///< an existing file may be replaced
  file_name name = file_name::given;
};

/// Which file a path leads to, also if it does not exist: relative or absolute, through symbolic links, as a hard link.
struct file_identity {
  explicit file_identity(const std::string& path);
  bool operator==(const file_identity& other) const;

  std::string name;                      ///< absolute, without symbolic links; "" if they lead back to themselves
  std::uint64_t device = 0, number = 0;  ///< 0 if the file does not exist
};

/// A file that an output must not replace.
struct kept_file {
  std::string path;
  std::string role;  ///< "the input --mask", "also the file of --out"
};

/// Throws failure (usage) if the output is one of the files, whatever may be overwritten.
void check_not_kept(const named_output& output, const std::vector<kept_file>& others);

/// The inputs that a result's `provenance` names.
std::vector<kept_file> list_inputs(const nlohmann::json& provenance);

/// The result that `option` names and what a run keeps next to it: OUT.part, OUT.lock, ...
std::vector<kept_file> list_result_files(const std::string& option, const std::string& result);

/// Whether a file may be written: throws failure if it could not be written now: one of `others` (usage), an existing
/// file (usage), a folder (usage), a missing or protected folder (disk). To be called before long work. Leaves the disk
/// as it was.
void check_output(const named_output& output, const std::vector<kept_file>& others = {});

/// Writes the text. A file gets its name only when it is complete. Throws failure (disk) with the reason.
void write_output(const named_output& output, std::string_view text);

/// The file that a path leads to: symbolic links are followed, also to a file that does not exist. Throws failure
/// (usage) for links in a circle.
std::string follow_links(const std::string& path);

/// Whether two paths lead to the same file, also if it does not exist.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace voxherd
