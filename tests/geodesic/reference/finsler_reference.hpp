#pragma once

#include <array>
#include <span>

#include "kernels/tensor/quartic_fit.hpp"

namespace voxherd::reference {

using quartic15 = std::array<double, 15>;

/// T v v v v, summed over all 81 index quadruples.
double quartic_at(const quartic15& t, const std::array<double, 3>& v);

/// The norm of one voxel that can be fitted, before it is made convex, slow and obvious: polynomials in place of
/// harmonics (the settings' regularisation is not applied), the ODF by differences and by sums around great circles.
quartic15 fit_quartic(const gradient_table& gradients, std::span<const float> row, const quartic_settings& settings);

}  // namespace voxherd::reference
