#pragma once

#include <vector>

namespace voxherd {

/// Diffusion in the white matter of a geometry phantom: sticks (no diffusion across) beside an axially symmetric
/// tensor, both with directions spread around the bundle's. No model of `ballstick` has this signal.
struct bundle_diffusion {
  double axial_mm2_per_s = 1.7e-3, radial_mm2_per_s = 0.2e-3;
  double stick_share = 0;     ///< of the signal at b=0, 0 to 1
  double concentration = 50;  ///< kappa of the von Mises-Fisher distribution of directions; 50: about 8 degrees
};

/// Attenuation of one bundle at one b-value, as a function of the cosine between gradient and bundle.
///
/// Attenuation of one direction and distribution of directions are expanded in Legendre polynomials; their convolution
/// is the product of the coefficients (Funk-Hecke; Caruyer et al., ISMRM 2014, for phantomas).
class dispersed_signal {
 public:
  /// `concentration` above 0; `b_s_per_mm2` at least 0.
  dispersed_signal(const bundle_diffusion& tissue, double b_s_per_mm2);

  double operator()(double cosine) const;

 private:
  std::vector<double> even_coefficients_;
};

}  // namespace voxherd
