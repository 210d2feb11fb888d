#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "src/io/nifti/nifti.hpp"

namespace voxherd {

/// Whether a header says where its image is. `geometry`: nifti_header::geometry; null if it is not known, which counts
/// as yes.
bool has_orientation(const nlohmann::json& geometry);

/// Changes a header so that its values are read in another order than now.
void reorder(nifti_header& header, const storage_order& order);

/// Images on one grid may be stored in different orders. Finds the order in which the world positions of a companion of
/// an image (a mask, a map, another frame) are nearest to those of the image. As stored, at the same place, if one of
/// both has no orientation. Nothing if they have different sizes in this order.
std::optional<nearest_order> match_companion(const nifti_header& companion, const nifti_header& image);

/// A companion at most this far away along each axis is on the image's grid.
inline constexpr double same_place_voxels = 0.1;
/// One that is not so near, but nearer than this, still has its own voxels nearest.
inline constexpr double same_voxel_voxels = 0.5;

/// The largest distance of a voxel of one grid from that of the other with the same index, along any axis, in voxels of
/// `image` along this axis: slices may be several times as thick as voxels are wide.
double apart_in_voxels(const image_grid& grid, const image_grid& image);

/// The order in which FSL's programs match two images by index, wherever they are: with the first axis backwards if
/// only one of them has a matrix with a positive determinant.
storage_order fsl_order(const image_grid& companion, const image_grid& image);

/// Brings a companion to an image's order. False if it is not on the image's grid. `geometry`: that of the image, null
/// if it is not known.
bool bring_from_same_place(nifti_header& companion, const image_grid& image, const nlohmann::json& geometry);

/// The same where a run has accepted the companion before: if it is elsewhere, in FSL's order. False if it has another
/// size.
bool bring_unchecked(nifti_header& companion, const image_grid& image, const nlohmann::json& geometry);

}  // namespace voxherd
