#pragma once

#include <string>
#include <vector>

namespace voxherd {

/// The masks that `names` stand for: an image, an image without its extension, a surface, or a text file with names of
/// masks, found from the current folder or from that of the list. FSL separates the names of a list by any white space.
/// Names of missing files that are not in a list are kept, for the reader's message. Throws failure (bad_data,
/// missing_input, usage): a list without names, a missing file of a list, CIFTI.
std::vector<std::string> find_mask_files(const std::vector<std::string>& names, const char* option);

/// The same for one image: no list, no surface. Throws failure (usage).
std::string find_mask_file(const std::string& name, const char* option);

/// The name of a target in results: that of its file, of an image without its extension.
std::string mask_name(const std::string& path);

/// The first image among seeds. Throws failure (usage) if there are only surfaces.
const std::string& first_image(const std::vector<std::string>& masks);

}  // namespace voxherd
