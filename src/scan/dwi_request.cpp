#include "src/scan/dwi_request.hpp"

#include <algorithm>

namespace voxherd {

const option_table<dwi_request>& dwi_options() {
  using T = dwi_request;
  static const option_table<T> table = option_table<T>().group(
      "Input",
      {{"dwi",
        &T::dwi,
        text_kind::file,
        {.text = "diffusion-weighted series, NIfTI (.nii or .nii.gz)", .required = true}},
       {"bvals",
        &T::bvals,
        text_kind::file,
        {.text = "b-values in s/mm2, one per volume (FSL layout), or MRtrix's table x y z b", .required = true}},
       {"bvecs",
        &T::bvecs,
        text_kind::file,
        {.text = "gradient directions, 3xN or Nx3 (FSL layout), or MRtrix's table x y z b", .required = true}},
       {"bvecs-frame",
        &T::frame,
        {{"fsl", direction_frame::fsl}, {"image", direction_frame::image}, {"world", direction_frame::world}},
        {.text = "axes of the directions in --bvecs: FSL's, those of the image (DIPY, QSIPrep), or of the world "
                 "(MRtrix)",
         .standard = "fsl; of MRtrix's table world",
         .stored = always}},
       {"mask",
        &T::mask,
        text_kind::file,
        {"mask of the voxels to process; without it, those with a positive b=0 mean"}},
       {"b0-threshold",
        &T::max_b0_s_per_mm2,
        range{0, 1000},
        {.text = "largest b-value of a volume that counts as b=0",
         .unit = "s/mm2",
         .standard = "50",
         .stored = always,
         .paper = true}},
       {"grad-dev",
        &T::gradient_deviation,
        text_kind::file,
        {"deviation of the gradients, 9 volumes (HCP's grad_dev, QSIPrep's graddev)"}}});
  return table;
}

std::uint64_t part_begin(std::uint64_t voxels, std::uint32_t part, std::uint32_t parts) {
  if (parts > voxels) return std::min<std::uint64_t>(part, voxels);
  return part == parts ? voxels : voxels / parts * part;
}

}  // namespace voxherd
