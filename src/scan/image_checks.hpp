#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/mask_rules.hpp"

namespace voxherd {

/// Whether a file is a NIfTI image by its name.
inline bool is_nifti_name(std::string_view path) { return path.ends_with(".nii") || path.ends_with(".nii.gz"); }

/// The file's name without folder and ending.
std::string image_name(const std::string& path);

/// Logs the header's warnings.
void log_warnings(const nifti_header& header);

/// Brings a companion of an image (a mask, a map, another frame) to the image's grid: after this its values are read in
/// the image's order, whichever of the 48 orders it is stored in. If one of both has no orientation, voxels are matched
/// as they are stored. Warns of a companion that is displaced. Throws failure (bad_data) for another size, and under
/// voxherd's own rules for a displacement of half a voxel or more; FSL's programs match such images by index.
void bring_to_grid(nifti_header& companion, const nifti_header& image, mask_rules rules = mask_rules::own);

/// Throws failure (bad_data) if `what`, such as "a mask", has several volumes. FSL's programs read the first one: then
/// it warns.
void check_one_volume(const nifti_header& header, const char* what, mask_rules rules = mask_rules::own);

/// For a mask or parcellation without a voxel inside: throws failure (bad_data), or warns if the rules allow it.
void check_empty_mask(const std::string& path, std::uint64_t voxels, mask_rules rules);

/// Every rank except 0 reads the header itself and compares it with rank 0's, to detect nodes that see another file.
/// The header is in rank 0's order afterwards. Collective. Throws failure, the same on every rank.
void check_same_file(const session& s, const std::string& path, nifti_header& header);

}  // namespace voxherd
