#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/tensor_field/field.hpp"

namespace voxherd {

/// Fractional anisotropy below which a voxel is taken for grey matter or fluid: the usual threshold of tractography
/// (Mori & van Zijl, NMR Biomed 15:468, 2002).
inline constexpr double white_matter_FA = 0.2;

/// Mean diffusivity above which a voxel is taken for fluid. Tissue has 0.75e-3 mm2/s, cerebrospinal fluid 3.2e-3
/// (Chun, AJNR 21:1078, 2000): at this bound fluid is 18 % of the voxel.
inline constexpr double max_white_matter_MD_mm2_per_s = 1.2e-3;

/// Part of a path outside white matter above which commands warn: paths between regions of the cortex begin and end
/// in grey matter.
inline constexpr double max_part_outside = 0.25;

/// Of the option --within-fa.
inline constexpr auto within_FA_help =
    "paths stay in white matter: fractional anisotropy of at least this, no fluid, no rim of the mask; 0: everywhere";

/// Fractional anisotropy of some voxels, from the measured tensors.
std::vector<float> measured_FA(const tensor_field::tensor_image& image, const std::vector<std::uint64_t>& voxels);

/// White matter by thresholds: (nz, ny, nx), 1 inside.
///
/// A voxel qualifies if its FA is at least `min_FA`, its MD below the bound above, and none of its faces is a face of
/// the mask of tensors: noise and air make voxels at the rim anisotropic. Holes of the mask and the sides of the image
/// are no rim. Of the voxels that qualify those remain around which at least half of the 27 voxels qualify (beside the
/// sides of the image of fewer), which removes bridges of noise across grey matter; and of these the largest part that
/// is connected by faces.
std::vector<std::uint8_t> find_white_matter(const tensor_field::tensor_image& image, double min_FA);

/// The same for --within-fa, which is above 0: logs how many voxels there are. Throws failure (bad_data) if none.
std::vector<std::uint8_t> keep_white_matter(const tensor_field::tensor_image& image, double min_FA);

/// The part of some voxels that is outside of an image of find_white_matter(); 0 of none.
double part_outside(const std::vector<std::uint8_t>& white_matter, std::span<const std::uint64_t> voxels);

}  // namespace voxherd
