#pragma once

#include "kernels/perfusion/perfusion.hpp"

/// What data/perfusion_reference asks of a device's fits of its 150 voxels (GTest expectations). The caller has looked
/// whether the data are there.
namespace voxherd::reference {

/// Nelder and Mead's from the paper's start: as many iterations as independent code, and the same parameters to 1e-3
/// where it converged. A fitter gets floats: a voxel whose samples' last digits send it another way must then go the
/// way of the reference from the same floats.
void expect_independent_simplex(const device& d, perfusion::discretisation_kind how);

/// Cost, as the reference sees it, at most `excess` above the bounded problem's global minimum in every voxel; where no
/// parameter is at a bound, parameters and their standard deviations within `error` standard deviations.
void expect_global_minima(const device& d, perfusion::fit_settings s, double excess, double error);

/// Some parameters fixed (also all of one input: the one-input model), others in tight bounds: minima of the
/// reference's search under the same rules.
void expect_rules_kept(const device& d, perfusion::solver_kind solver);

/// The simplex with bounds, where without them a quarter of the random physiology ends beyond: no parameter does, nor
/// is any cost above the start's.
void expect_bounded_simplex(const device& d);

}  // namespace voxherd::reference
