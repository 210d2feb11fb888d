#pragma once

#include <optional>
#include <string>

namespace voxherd {

// Files of a subject's folder that are found by their names.

/// An image may exist as .nii or .nii.gz, but not as both. Throws failure (usage).
std::optional<std::string> find_only_image(const std::string& folder, const std::string& name);
/// The first of two images that exists.
std::optional<std::string> find_either(const std::string& folder, const std::string& one, const std::string& other);
/// NAME or NAME.txt.
std::optional<std::string> find_text(const std::string& folder, const std::string& name);
/// Throws failure (missing_input) if there is none; `names`: what was looked for.
std::string require_file(const std::optional<std::string>& found, const std::string& folder, const char* names);

}  // namespace voxherd
