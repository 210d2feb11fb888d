#pragma once

#include "kernels/perfusion/perfusion.hpp"

/// Requirements of data/perfusion_reference on a device's fits of its 150 voxels (GTest expectations). The caller
/// checks that the data exist.
namespace voxherd::reference {

/// Nelder-Mead from the paper's start: as many iterations as independent code, and the same parameters to 1e-3 where it
/// converged. A fitter reads floats: if the last digits of the samples change a voxel's path, it must follow the
/// reference's path for the same floats.
void expect_independent_simplex(const device& d, perfusion::discretisation_kind how);

/// Cost, computed by the reference, at most `excess` above the global minimum of the bounded problem in every voxel;
/// where no parameter is at a bound, parameters and their standard deviations agree within `error` standard deviations.
void expect_global_minima(const device& d, perfusion::fit_settings s, double excess, double error);

/// Some parameters fixed (also all of one input: the one-input model), others within tight bounds: minima of the
/// reference's search under the same rules.
void expect_rules_kept(const device& d, perfusion::solver_kind solver);

/// The simplex with bounds, where without bounds a quarter of the random physiology would exceed them: no parameter
/// does, and no cost is above that of the start.
void expect_bounded_simplex(const device& d);

}  // namespace voxherd::reference
