#pragma once

#include <string>
#include <vector>

namespace voxherd {

/// The images that `names` stand for: an image, an image without its extension, or a text file with one image per line,
/// found from the current folder or from that of the list. Names of missing files are kept, for the reader's message.
/// Throws failure (bad_data, usage): a list without names, a surface.
std::vector<std::string> find_mask_files(const std::vector<std::string>& names, const char* option);

}  // namespace voxherd
