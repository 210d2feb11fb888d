#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/outputs.hpp"
#include "kernels/geodesic/finsler4.hpp"
#include "kernels/portable/gradients.hpp"
#include "kernels/tensor/tensor.hpp"
#include "kernels/tensor_field/field.hpp"

/// A fourth-order tensor norm from diffusion-weighted signals, small along every fibre direction of a voxel.
///
/// The norm is F(u)^4 = (u^T D^-1 u)^2 (psi_D(u) / psi(u))^(4/3), a quartic fitted to it by least squares. psi is the
/// orientation distribution function in constant solid angle (Aganj et al., Magn Reson Med 64:554, 2010), psi_D the one
/// of the voxel's tensor D: psi_D(u) = (u^T D^-1 u)^(-3/2) / (4 pi det(D)^(1/2)), in closed form. Hence F(u)^4 is
/// proportional to psi(u)^(-4/3), and where the signal is a single tensor's, F(u)^2 = u^T D^-1 u to rounding.
///
/// psi = psi_D + delta: the method is linear in ln(-ln E), so that the difference comes from spherical harmonics of
/// order 4 fitted to ln(measured / the tensor's ADC) alone, with Laplace-Beltrami regularisation (Descoteaux et al.,
/// Magn Reson Med 58:497, 2007). What order 4 cannot say of a single tensor does not enter, and noise without a
/// crossing gives about the tensor's norm. The alternatives: a quartic fitted to the ADC, or its dual norm, is smallest
/// between the fibres of a crossing; a deconvolution needs one response for all voxels, and gives D back only where D
/// is it.
///
/// The fit is in coordinates in which D is the identity, over directions even there, so that F along fibres counts as
/// much as F across, and the norm's mean is the tensor's. F is then made strongly convex, by mixing with the tensor's
/// norm, the least part of it that does.
///
/// Limits. Convexity lets F^4 along the fibres of a crossing be half of what it is between them, and no less. Without
/// noise, along over between: at right angles 0.59 with 32 directions at b = 1000 s/mm2, 0.52 with 64; at 70 degrees
/// 0.94 and 0.78; at 60 degrees the two are one with 32, 0.96 with 64, 0.90 at b = 3000. The minima of F lie closer
/// together than the fibres do, by 10 to 18 degrees at 70. Half of the voxels of a noisy brain are mended: where the
/// ODF is small, its noise is large. Measurements of unlike b are used as if the ADC did not depend on b.
namespace voxherd::geodesic {

struct quartic_settings {
  tensor_settings tensor{};            ///< the tensor fit that comes first; its gradient_deviation is refused
  double least_eigenvalue = 0.01;      ///< the tensor's eigenvalues below this part of its largest are raised to it
  double regularisation = 0.006;       ///< Laplace-Beltrami, of harmonics fitted to ln(ADC ratio): 0 or more
  double least_b_of_largest = 2. / 3;  ///< measurements with less diffusion weighting say nothing of crossings
  double convexity = 0.05;             ///< least eigenvalue of F's fundamental tensor, where that of D is 1: in (0, 1)
};

/// Outputs of a norm's fit; all but `status` are zero where that is not `fitted`.
struct quartic_outputs {
  static constexpr output table[] = {
      {"tensor", element_type::float32, 6, "mm2/s", "as in tensor_outputs, not clipped"},
      {"quartic", element_type::float32, quartic_size, "(s/mm2)^2",
       "T as in finsler4.hpp, F^4 = T v v v v, along the axes of the gradient table"},
      {"mixed", element_type::float32, 1, "1",
       "part of the tensor's norm that made F convex, a multiple of 1/256; 0: F was convex"},
      {"status", element_type::uint8, 1, "code", "0 fitted; else why not (voxel_status)"},
  };
};

/// Whether the gradient table determines a norm: it determines a tensor, and its measurements of the larger b have at
/// least 15 directions that determine a quartic.
bool determines_quartic(const gradient_table& gradients, const quartic_settings& settings);

/// Turns `count` quartics from the axes of a gradient table to world axes, in place. frame: row-major 3x3 rotation, the
/// table's axes along the world in its columns (as tensors turn: frame D frame^T).
void rotate_quartics(std::span<const double, 9> frame, std::span<float> quartics);

/// The field for `--form finsler4`, kind quartic: T in index space and stored units, of which field::scale says
/// F_true^2 = scale F_stored^2. `quartics`: (nz, ny, nx, 15) along world axes, (s/mm2)^2. Voxels inside whose T is not
/// finite or not positive along the axes have their tensor's. Filled outside as make_field does. Facts: FA of the
/// tensor; speed: 1 / F in the direction where F is least. `field::repaired` counts voxels inside without a sound
/// tensor or T. Throws as make_field does, and std::invalid_argument for smoothing and for a metric other than inverse
/// and adjugate: T has no logarithm or power.
std::unique_ptr<field> make_quartic_field(const device& d, const tensor_image& image, std::span<const float> quartics,
                                          std::span<const std::uint32_t> regions, const preparation& how, bool spline);

}  // namespace voxherd::geodesic
