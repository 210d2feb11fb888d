#pragma once

#include <string>
#include <string_view>

namespace voxherd {

/// The last line of logs/CITATION.md.
inline constexpr std::string_view citation_mark = "<!-- written by voxherd bids -->\n";

/// Whether `voxherd bids` may write a file of this name, because there is none, or because voxherd has made it. Folders
/// of derivatives are often those of several programs, of which some use the same names. Pages and CITATION.md say
/// inside who made them, a sidecar (JSON) in its field GeneratedBy, and for all other files the sidecar next to them
/// does.
bool is_own_or_new(const std::string& path);

/// `path`, or, if a file of another program has this name, the same name with _voxherd before its ending. Throws
/// failure (usage) if that one is not ours either.
std::string own_path(const std::string& path);

}  // namespace voxherd
