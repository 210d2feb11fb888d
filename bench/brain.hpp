#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/geodesic/tracker.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd::bench {

/// Tensors of a real brain in its brain mask, and the voxels of its white matter (linear indices, increasing).
struct brain {
  geodesic::tensor_image image;
  std::vector<std::uint64_t> white_matter;
};

/// 128x128x60 voxels of 1.75x1.75x2.5 mm, read once from the folder in the environment variable VOXHERD_DATA:
/// philips_32dir_b1000/ref_mrtrix3/dt_wls_iter2.nii.gz and wm_mask_fa025.nii.gz. Throws no_data without them.
const brain& philips_brain();

/// `count` seeds, each at a random position in a random voxel of white matter, in the order of the voxels, as in the
/// program. Equal calls give equal seeds.
std::vector<geodesic::seed> seeds_in_white_matter(const brain& of, std::size_t count);

/// `count` seeds at random positions in the corpus callosum: white matter in the three slices around the middle whose
/// diffusivity from left to right is more than three times those of the other axes.
std::vector<geodesic::seed> seeds_in_callosum(const brain& of, std::size_t count);

}  // namespace voxherd::bench
