#pragma once

#include "tests/perfusion/reference/perfusion_case.hpp"

namespace voxherd::reference {

/// Each map says what the reference says at the place where the fit ended: cost, R2, derived quantities, standard
/// deviations, bounds; voxels that cannot be fitted are zero and say why.
void expect_judged_as_by_reference(const perfusion_case& c, const perfusion::fit_settings& s, const perfusion_run& run);

/// The paper's curve has a kink where a delay is a whole number of frames.
bool near_whole_frame(const perfusion::time_course& f, const perfusion_parameters& p);

/// Two devices' fits of the same voxels, which round differently: the same status and T1, and parameters within a part
/// of a standard deviation. Double precision: 1e-3 in all voxels but 1.5 % (a near tie, a kink). Single: 0.1, and for
/// the simplex, whose stop of 1e-8 is near a float's rounding of the cost, in 80 % of the voxels. (Measured between two
/// CPU builds, with and without fused multiply-add: at most 1.2 %, 0.4 % and 14 % beyond.)
void expect_same_ends(const perfusion_run& a, const perfusion_run& b, const perfusion::fit_settings& s);

}  // namespace voxherd::reference
