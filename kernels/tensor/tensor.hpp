#pragma once

#include "core/outputs.hpp"
#include "kernels/portable/gradient_table.hpp"

namespace voxherd {

enum class tensor_weighting {
  ordinary,  ///< all log-signals alike
  weighted,  ///< weights are the squared measured signal, the inverse variance of its logarithm
  iterated,  ///< weighted, then again with the squared signal that the last fit predicts
};

/// What becomes of samples that have no logarithm, or whose logarithm would count too much.
enum class low_sample_rule {
  millionth_of_largest,  ///< raised to this, as MRtrix3's dwi2tensor does
  hundredth_of_S0,       ///< raised to 1 % of the S0 of a first fit, as FSL's dtifit does
};

struct tensor_settings {
  tensor_weighting weighting = tensor_weighting::iterated;
  int iterations = 2;               ///< further fits after the first; used only by `iterated`
  bool gradient_deviation = false;  ///< rows end in nine more floats
  low_sample_rule low_samples = low_sample_rule::millionth_of_largest;
};

/// Outputs of a tensor fit; all but `status` are zero if that is neither `fitted` nor `not_physical`. FA exceeds 1 if
/// noise makes an eigenvalue negative. If MD is negative, the status is `not_physical` and the values stay as fitted,
/// as FSL's dtifit and MRtrix write them.
struct tensor_outputs {
  static constexpr output table[] = {
      {"tensor", element_type::float32, 6, "mm2/s",
       "diffusion tensor xx, xy, xz, yy, yz, zz along the axes of the bvecs"},
      {"S0", element_type::float32, 1, "input", "fitted signal without diffusion weighting"},
      {"FA", element_type::float32, 1, "1", "fractional anisotropy"},
      {"MD", element_type::float32, 1, "mm2/s", "mean diffusivity"},
      {"AD", element_type::float32, 1, "mm2/s", "axial diffusivity, L1"},
      {"RD", element_type::float32, 1, "mm2/s", "radial diffusivity, mean of L2 and L3"},
      {"V1", element_type::float32, 3, "1", "eigenvector of L1 along the axes of the bvecs, sign arbitrary"},
      {"V2", element_type::float32, 3, "1", "eigenvector of L2"},
      {"V3", element_type::float32, 3, "1", "eigenvector of L3"},
      {"L1", element_type::float32, 1, "mm2/s", "largest eigenvalue"},
      {"L2", element_type::float32, 1, "mm2/s", "middle eigenvalue"},
      {"L3", element_type::float32, 1, "mm2/s", "smallest eigenvalue"},
      {"residual", element_type::float32, 1, "input", "root mean square of signal minus fitted signal"},
      {"status", element_type::uint8, 1, "code", "0 fitted; other codes: reason why not (docs/commands/README.md)"},
  };
};

/// Whether the gradient table determines a tensor: at least six directions, not all on one cone or plane.
bool determines_tensor(const gradient_table& gradients);

}  // namespace voxherd
