#pragma once

#include <array>
#include <functional>
#include <vector>

#include "kernels/eikonal/solver.hpp"

/// The slow, obvious solver of grad(u) . S grad(u) = 1 on a dense grid, in double: Gauss-Seidel sweeps in eight orders
/// until nothing changes.
namespace voxherd::reference {

using voxel3 = std::array<long, 3>;  ///< x, y, z

/// Whether a step from the centre of `from` to that of `from + e` is open. The straight line between them, walked voxel
/// by voxel, stays in the mask; where it passes exactly through an edge or a corner, one of the ways around by faces
/// does.
bool step_is_open(const eikonal::speed_field& field, const voxel3& from, const voxel3& e);

/// S: xx, xy, xz, yy, yz, zz.
struct whole_number_direction {
  double weight;
  voxel3 e;
};
std::array<whole_number_direction, 6> selling_directions_of(const std::array<double, 6>& S);

/// The larger root u of sum weight max(0, u - value)^2 = 1; infinite where no value is finite.
struct upwind_term {
  double weight, value;
};
double upwind_root(std::vector<upwind_term> terms);

/// A scheme's update of one voxel of the grid: from the arrival times (nz, ny, nx) of all, infinite outside the mask.
using local_update = std::function<double(std::size_t linear, const std::vector<double>& arrival)>;

struct reference_solution {
  std::vector<double> arrival;  ///< by voxels of the mask, in the order of their numbers
  int sweeps = 0;
  bool converged = false;
};

/// Start voxels keep what they are given. Converged: the last eight sweeps changed nothing by more than 1e-10 of it.
reference_solution solve_reference(const eikonal::speed_field& field, const std::vector<eikonal::start>& starts,
                                   eikonal::scheme_kind scheme, int order = 1);

/// The mask's voxels' linear indices, in their order.
std::vector<std::size_t> voxels_inside(const eikonal::speed_field& field);

}  // namespace voxherd::reference
