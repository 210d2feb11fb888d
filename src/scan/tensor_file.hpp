#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// Whose tensors a file holds: order of the six numbers and frame of the axes.
enum class tensor_origin {
  voxherd,  ///< `tensor` of a result of `voxherd tensor`: xx, xy, xz, yy, yz, zz, FSL's bvec frame
  fsl,      ///< dtifit's NAME_tensor: xx, xy, xz, yy, yz, zz, FSL's bvec frame
  mrtrix,   ///< dwi2tensor's output as NIfTI: xx, yy, zz, xy, xz, yz, world axes
};

/// Tensors along world axes on an image grid.
struct tensor_volume {
  image_grid grid;
  nlohmann::json geometry;           ///< nifti_header::geometry, null where not known
  std::vector<float> tensor;         ///< (nz, ny, nx, 6): xx, xy, xz, yy, yz, zz along world axes; unit of the file
  std::vector<std::uint8_t> inside;  ///< (nz, ny, nx): 1 where all six are finite and the trace is positive
};

/// By one process. Voxels that hold no tensor (all zero, not finite, a trace that is not positive) are outside; those
/// that are not all zero are counted in the log. Throws failure (missing_input, bad_data).
tensor_volume read_tensor_file(const std::string& path, tensor_origin origin);

}  // namespace voxherd
