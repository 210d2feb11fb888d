#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "core/analysis.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd {

/// The program that wrote a tensor file, which determines the order of the six elements and the frame of the axes.
enum class tensor_origin {
  voxherd,  ///< a result of `voxherd tensor`, or made of the fibres of one of `ballstick`: xx, xy, xz, yy, yz, zz,
            ///< FSL's bvec frame
  fsl,      ///< dtifit's NAME_tensor: xx, xy, xz, yy, yz, zz, FSL's bvec frame
  mrtrix,   ///< dwi2tensor's output as NIfTI: xx, yy, zz, xy, xz, yz, world axes
};

/// Tensors along world axes on an image grid.
struct tensor_volume {
  image_grid grid;
  nlohmann::json geometry;           ///< nifti_header::geometry, or null if unknown
  std::vector<float> tensor;         ///< (nz, ny, nx, 6): xx, xy, xz, yy, yz, zz along world axes, in the file's unit
  std::vector<std::uint8_t> inside;  ///< (nz, ny, nx): 1 if all six elements are finite and the trace is positive

  static constexpr auto members() {
    using T = tensor_volume;
    return std::tuple(&T::grid, &T::geometry, &T::tensor, &T::inside);
  }
};

/// Reads a tensor file on one rank. Voxels without a valid tensor (all zero, not finite, or trace not positive) are
/// outside; those that are not all zero are counted in the log. Throws failure (missing_input, bad_data).
tensor_volume read_tensor_file(const std::string& path, tensor_origin origin);

/// Warns about tensors that the preparation had to change, and says how. `option`: the one that sets the smallest
/// eigenvalue.
void warn_repaired(std::uint64_t repaired, const tensor_field::tensor_image& image, double min_eigenvalue,
                   const char* option);

}  // namespace voxherd
