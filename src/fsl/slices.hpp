#pragma once

#include <cstdint>
#include <string>

namespace voxherd {

// The folders and files of FSL's chain of scripts that fits one slice after another.

/// SUBJECT without a slash at its end, absolute.
std::string subject_path(const std::string& subject);
/// SUBJECT/data_slice_0003, without the ending of an image.
std::string slice_image(const std::string& subject, const std::string& image, std::uint64_t slice);
/// SUBJECT.bedpostX/diff_slices/data_slice_0003.
std::string slice_folder(const std::string& subject, std::uint64_t slice);

}  // namespace voxherd
