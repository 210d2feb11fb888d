#pragma once

#include <string>
#include <string_view>

#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// Whether a file is a NIfTI image by its name.
inline bool is_nifti_name(std::string_view path) { return path.ends_with(".nii") || path.ends_with(".nii.gz"); }

/// The file's name without folder and ending.
std::string image_name(const std::string& path);

/// Logs the header's warnings.
void log_warnings(const nifti_header& header);

/// Throws failure (bad_data) if `header` has another grid size than the image; warns if it is at another world
/// position.
void check_same_grid(const nifti_header& header, const nifti_header& image);

/// Every rank except 0 reads the header itself and compares it with rank 0's, to detect nodes that see another file.
/// Collective. Throws failure, the same on every rank.
void check_same_file(const session& s, const std::string& path, nifti_header& header);

}  // namespace voxherd
