#pragma once

#include <filesystem>
#include <string>

#include "src/batch/bids/dataset_files.hpp"

namespace voxherd {

/// Whether the name is that of the phase or of the real or imaginary part of a complex image.
bool is_part_of_complex_image(const bids_name& name);

/// Why an image that is named like a diffusion series is none that could be fitted, as the end of a sentence ("has only
/// b=0 ..."); "" if it may be one. Files that cannot be read are reported by the analysis. `bval`, `bvec`: "" for none.
std::string why_no_diffusion_series(const std::filesystem::path& root, const named_file& image, const std::string& bval,
                                    const std::string& bvec);
/// The same of a dynamic series.
std::string why_no_dynamic_series(const std::filesystem::path& root, const named_file& image);

}  // namespace voxherd
