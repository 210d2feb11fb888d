#pragma once

#include <vector>

#include "kernels/connect/solver.hpp"

/// The slow, obvious solver of grad(u) . S grad(u) = 1 on a dense grid, in double: Gauss-Seidel sweeps in eight orders
/// until nothing changes.
namespace voxherd::reference {

/// Linear indices of the voxels in the mask, increasing.
std::vector<std::size_t> voxels_inside(const connect::speed_field& field);

struct reference_solution {
  std::vector<double> arrival;  ///< of the voxels in the mask, in increasing order
  int sweeps = 0;
  bool converged = false;
};

/// Converged if the last eight sweeps changed nothing by more than a relative 1e-10. Start voxels may get earlier times
/// than given, via another start; second order keeps those of first order.
reference_solution solve_reference(const connect::speed_field& field, const std::vector<connect::start>& starts,
                                   connect::scheme_kind scheme, int order = 1);

}  // namespace voxherd::reference
