#pragma once

#include <vector>

#include "kernels/connect/solver.hpp"

/// The other solvers of Table 1 in Jeong 2007 for grad(u) . S grad(u) = 1: Gauss-Seidel sweeps in eight orders on one
/// thread, in double, as fast as is simple.
namespace voxherd::reference {

enum class sweeping_scheme {
  godunov,         ///< the update of godunov27 (Tsai et al. 2003)
  lax_friedrichs,  ///< Kao, Osher & Qian 2004; voxels outside are extrapolated linearly
};

struct sweeping_solution {
  std::vector<float> arrival;  ///< of the voxels in the mask, in increasing order
  int sweeps = 0;
  bool converged = false;
};

/// Converged if the last eight sweeps changed no voxel by more than `tolerance` times its value. Starts keep their
/// times.
sweeping_solution solve_by_sweeping(const connect::speed_field& field, const std::vector<connect::start>& starts,
                                    sweeping_scheme scheme, double tolerance = 1e-6);

}  // namespace voxherd::reference
