#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Folders of NIfTI maps, such as the truth of a phantom or an exported result.
namespace voxherd {

/// Finds the first existing file FOLDER/NAME.nii.gz or FOLDER/NAME.nii among several names.
std::optional<std::string> image_named(const std::string& folder, const std::vector<std::string>& names);

/// Reads an image as voxels x volumes, volume fastest. Sets `size` if it is zero, otherwise requires the same size.
/// Throws failure (bad_data).
std::vector<float> read_image(const std::string& path, std::uint64_t volumes, std::array<std::uint64_t, 3>& size);

/// The truth/ of a phantom's folder, or the folder itself. Throws failure (missing_input) if it is not a folder.
std::string truth_folder(const std::string& folder);

}  // namespace voxherd
