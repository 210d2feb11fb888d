#pragma once

#include <array>
#include <vector>

#include "kernels/connect/solver.hpp"
#include "tests/portable/reference/small_matrix.hpp"

/// The update of one voxel in the slow solver of grad(u) . S grad(u) = 1. Index space.
namespace voxherd::reference {

using voxel3 = std::array<long, 3>;  ///< x, y, z

/// Whether a step from the centre of `from` to that of `from + e` is open: the straight line between them, followed
/// voxel by voxel, stays in the mask; where it passes exactly through an edge or a corner, one of the face-connected
/// detours does.
bool step_is_open(const connect::speed_field& field, const voxel3& from, const voxel3& e);

/// Selling's decomposition of S (xx, xy, xz, yy, yz, zz): the sum of weight e e^T.
struct whole_number_direction {
  double weight;
  voxel3 e;
};
std::array<whole_number_direction, 6> selling_decomposition_vectors(const std::array<double, 6>& S);

/// The larger root u of sum weight max(0, u - value)^2 = 1; infinite if no value is finite.
struct upwind_term {
  double weight, value;
};
double upwind_root(std::vector<upwind_term> terms);

/// The cost of the least-cost straight path to a voxel from a simplex of one to three neighbours, with u linear between
/// their values; infinite if that path starts at the simplex's boundary.
double simplex_cost(const mat3& S, const std::vector<voxel3>& vertices, const std::vector<double>& values);

/// The vertices, edges and triangles of the octahedron of six neighbours (26), and of the surface of 48 triangles
/// between 26 neighbours (146).
std::vector<std::vector<voxel3>> octant_simplices();
std::vector<std::vector<voxel3>> cube_simplices();

}  // namespace voxherd::reference
