#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Folders of NIfTI maps, as a phantom's truth is and as results are exported.
namespace voxherd {

/// The first of FOLDER/NAME.nii.gz and .nii that is there, of several names.
std::optional<std::string> image_named(const std::string& folder, const std::vector<std::string>& names);

/// Voxels x volumes, volume fastest. A `size` of zeros is set, another one must be the image's. Throws failure
/// (bad_data).
std::vector<float> read_image(const std::string& path, std::uint64_t volumes, std::array<std::uint64_t, 3>& size);

/// The truth/ of a phantom's folder, or the folder itself. Throws failure (missing_input) where it is none.
std::string truth_folder(const std::string& folder);

}  // namespace voxherd
