#pragma once

#include <array>
#include <optional>

#include "tests/portable/reference/small_matrix.hpp"

/// Arrival time u at one voxel from its neighbours', p . S p = 1 for p = grad u; slow, in double. Index space, voxels
/// of side 1. Neighbours of value `missing` or more do not exist.
namespace voxherd::reference {

inline constexpr double missing = 1e30f;  // the same number in float

/// Values one voxel down and up each axis.
struct six_neighbours {
  vec3 before, after;
};

/// Godunov's Hamiltonian: the extremum over p_x, of that over p_y, of that over p_z, of p . S p between u - before and
/// after - u: the minimum if they are in that order, otherwise the maximum (Osher & Shu 1991).
double godunov_flux(const mat3& s, const six_neighbours& v, double u);

/// The u for which it is 1, by bisection below the cheapest step along an axis.
double godunov_root(const mat3& s, const six_neighbours& v);

/// Jeong 2007, section 4.2, literally: the smallest of the solutions of 26 cases for which the test of left and right
/// indices holds on all axes; empty if no case passes.
std::optional<double> smallest_valid_case(const mat3& s, const six_neighbours& v);

/// The cheapest step along an axis, sqrt((S^-1)_dd) more than a neighbour.
double cheapest_axis(const mat3& s, const six_neighbours& v);

/// u at (dx, dy, dz) in -1..1 is [13 + dx + 3 dy + 9 dz].
using cube_neighbours = std::array<double, 27>;

/// The minimum of (u, linear between neighbours, at y) + sqrt(y . S^-1 y) over y on 48 triangles between the
/// neighbours, found by sections in each triangle.
double hopf_lax_minimum(const mat3& s, const cube_neighbours& v);

/// The u for which the sum of weight max(0, u - lower)^2 is 1, by bisection. `lower`: the smaller value of both sides.
double selling_root(const std::array<double, 6>& weight, const std::array<double, 6>& lower);

}  // namespace voxherd::reference
