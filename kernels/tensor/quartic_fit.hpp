#pragma once

#include <span>

#include "core/outputs.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "kernels/tensor/tensor.hpp"
#include "kernels/tensor_field/finsler4.hpp"

/// Fits a fourth-order tensor norm to diffusion-weighted signals; the norm is small along every fibre direction of a
/// voxel.
///
/// The norm is F(u)^4 = (u^T D^-1 u)^2 (psi_D(u) / psi(u))^(4/3), a quartic fitted to it by least squares. psi is the
/// orientation distribution function in constant solid angle (Aganj et al., Magn Reson Med 64:554, 2010), psi_D the one
/// of the voxel's tensor D: psi_D(u) = (u^T D^-1 u)^(-3/2) / (4 pi det(D)^(1/2)), in closed form. Hence F(u)^4 is
/// proportional to psi(u)^(-4/3), and where the signal is a single tensor's, F(u)^2 = u^T D^-1 u to rounding.
///
/// psi = psi_D + delta: the method is linear in ln(-ln E), so that the difference follows from spherical harmonics of
/// order 4 fitted only to ln(measured ADC / the tensor's ADC), with Laplace-Beltrami regularisation (Descoteaux et al.,
/// Magn Reson Med 58:497, 2007). Properties of a single tensor that order 4 cannot represent do not enter, and noise
/// without a crossing gives approximately the tensor's norm. Alternatives are worse: a quartic fitted to the ADC, or
/// its dual norm, is smallest between the fibres of a crossing; a deconvolution needs one response for all voxels, and
/// reproduces D only where D is that response.
///
/// The fit uses coordinates in which D is the identity, and directions evenly distributed there, so that F along and
/// across fibres has equal weight, and the norm's mean is the tensor's. F is then made strongly convex by mixing in the
/// smallest sufficient part of the tensor's norm.
///
/// Limits. Convexity limits F^4 along the fibres of a crossing to at least half of its value between them. Without
/// noise, this ratio is, at right angles, 0.59 with 32 directions at b = 1000 s/mm2 and 0.52 with 64; at 70 degrees
/// 0.94 and 0.78; at 60 degrees the fibres are not separated with 32 directions, and the ratio is 0.96 with 64 and 0.90
/// at b = 3000. The minima of F are closer together than the fibres, by 10 to 18 degrees at 70. In a noisy brain, half
/// of the voxels are made convex by mixing: where the ODF is small, its noise is large. Measurements with different b
/// are used as if the ADC did not depend on b.
namespace voxherd {

using tensor_field::quartic_size;

struct quartic_settings {
  tensor_settings tensor{};       ///< the preceding tensor fit; gradient_deviation is not supported
  double min_eigenvalue = 0.01;   ///< eigenvalues of the tensor below this fraction of its largest are raised to it
  double regularisation = 0.006;  ///< Laplace-Beltrami, of harmonics fitted to ln(ADC ratio): at least 0
  /// Measurements with b below this fraction of the largest are not used for crossings.
  double min_b_fraction = 2. / 3;
  double convexity = 0.05;  ///< minimum eigenvalue of F's fundamental tensor where that of D is 1: in (0, 1)
};

/// Outputs of a norm's fit; all but `status` are zero where that is not `fitted`.
struct quartic_outputs {
  static constexpr output table[] = {
      {"tensor", element_type::float32, 6, "mm2/s", "as in tensor_outputs, not clipped"},
      {"quartic", element_type::float32, quartic_size, "(s/mm2)^2",
       "T as in finsler4.hpp, F^4 = T v v v v, along the axes of the gradient table"},
      {"mixed", element_type::float32, 1, "1",
       "part of the tensor's norm that made F convex, a multiple of 1/256; 0: F was convex"},
      {"status", element_type::uint8, 1, "code", "0 fitted; other codes: reason why not (docs/commands/README.md)"},
  };
};

/// Whether the gradient table determines a norm: it determines a tensor, and its measurements with larger b have at
/// least 15 directions that determine a quartic.
bool determines_quartic(const gradient_table& gradients, const quartic_settings& settings);

/// Rotates quartics from the axes of a gradient table to world axes, in place. `frame`: row-major 3x3 rotation whose
/// columns are the table's axes in the world (tensors rotate as frame D frame^T).
void rotate_quartics(std::span<const double, 9> frame, std::span<float> quartics);

}  // namespace voxherd
