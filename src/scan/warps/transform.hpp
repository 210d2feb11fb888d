#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/io/nifti/nifti.hpp"
#include "src/scan/voxel_map.hpp"

namespace voxherd {

/// Displacements in mm at the voxels of a grid, x fastest.
struct mm_field {
  std::array<std::uint64_t, 3> size{};
  voxel_map to_voxel;  ///< from mm to voxels of the grid
  std::vector<std::array<float, 3>> mm;
};

/// The millimetres of a transform: FSL's of each image (voxel number times size, in FSL's storage), or of the world.
enum class mm_frame { fsl, world };

/// A map of points x in mm, as programs apply it to resample an image: from the grid of the new image to the old image.
/// y = before(x), then after(y + displacement at y).
struct transform {
  mm_frame frame = mm_frame::world;
  voxel_map before, after;
  mm_field field;           ///< without values: `before` is all
  bool is_inverse = false;  ///< of an affine map: `before` maps points of the old image to the new one

  bool has_field() const { return !field.mm.empty(); }
};

/// Whether a name is that of an image, with or without extension, or of a composite with a field: a warp. FSL takes
/// all others as matrices. Throws failure if a composite cannot be read.
bool is_warp(const std::string& name);

/// Reads one of these:
/// - an image with displacements of FSL's fnirt, or coefficients of splines or cosines;
/// - an image with displacements of ITK (ANTs);
/// - an affine map of ITK, as MATLAB file (version 4) or as text;
/// - a composite transform of ITK in HDF5;
/// - a matrix of FLIRT, which maps points of the old image.
/// `name`: an image may have no extension; "[FILE,1]" is the inverse of an affine map, as in ANTs. Throws failure
/// (missing_input, bad_data, usage).
transform read_transform(const std::string& name);
/// The transforms of several files, in the order of antsApplyTransforms.
transform read_transforms(const std::vector<std::string>& names);
/// The file of a name.
std::string transform_file(const std::string& name);

/// Its parts.
transform read_fsl_field(const nifti_header& header);
mm_field expand_coefficients(const nifti_header& header);
transform read_itk_field(const nifti_header& header);
/// A transform of ITK: its class, parameters and centre.
struct itk_numbers {
  std::string kind;
  std::vector<double> parameters, fixed;
};
transform make_itk_affine(const itk_numbers& found, const std::string& name);
/// From a text or a MATLAB file's bytes. `name`: for messages.
transform read_itk_text(const std::string& text, const std::string& name);
transform read_itk_matlab(const std::string& bytes, const std::string& name);
/// A file of ITK's HDF5, which antsRegistration --write-composite-transform writes: by its name.
bool is_itk_composite(const std::string& path);
bool has_itk_field(const std::string& path);
/// Its parts, the one that points meet first first.
std::vector<transform> read_itk_composite(const std::string& path);
/// Throws failure (bad_data) if a value of a field is not finite or not in mm.
void check_displacements(const mm_field& field, const std::string& name);

}  // namespace voxherd
