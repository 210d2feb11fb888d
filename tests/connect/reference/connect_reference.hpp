#pragma once

#include <vector>

#include "kernels/connect/solver.hpp"

/// The slow, obvious solver of grad(u) . S grad(u) = 1 on a dense grid, in double: Gauss-Seidel sweeps in eight orders
/// until nothing changes.
namespace voxherd::reference {

/// The mask's voxels' linear indices, in their order.
std::vector<std::size_t> voxels_inside(const connect::speed_field& field);

struct reference_solution {
  std::vector<double> arrival;  ///< by voxels of the mask, in the order of their numbers
  int sweeps = 0;
  bool converged = false;
};

/// Converged: the last eight sweeps changed nothing by more than 1e-10 of it. Start voxels may come earlier than what
/// they are given, as through another one; second order keeps what first order made of them.
reference_solution solve_reference(const connect::speed_field& field, const std::vector<connect::start>& starts,
                                   connect::scheme_kind scheme, int order = 1);

}  // namespace voxherd::reference
