#pragma once

#include <array>
#include <optional>

#include "tests/portable/reference/small_matrix.hpp"

/// Arrival time u at one voxel from its neighbours', p . S p = 1 for p = grad u: slow, in double. Index space, voxels
/// of side 1. Neighbours from `missing` on are none.
namespace voxherd::reference {

inline constexpr double missing = 1e30f;  // the same number in float

/// Values one voxel down and up each axis.
struct six_neighbours {
  vec3 before, after;
};

/// Godunov's Hamiltonian: the extremum over p_x, within it that over p_y, within it that over p_z, of p . S p. Between
/// u - before and after - u: the least where they are in that order, else the greatest (Osher & Shu 1991).
double godunov_flux(const mat3& s, const six_neighbours& v, double u);

/// The u for which that is 1, by bisection below the cheapest step along an axis.
double godunov_root(const mat3& s, const six_neighbours& v);

/// Jeong 2007, section 4.2, to the letter: the smallest of the solutions of 26 cases for which the test of left and
/// right indices holds on all axes. None where none passes.
std::optional<double> smallest_valid_case(const mat3& s, const six_neighbours& v);

/// The cheapest step along an axis, sqrt((S^-1)_dd) more than a neighbour.
double cheapest_axis(const mat3& s, const six_neighbours& v);

/// u at (dx, dy, dz) in -1..1 is [13 + dx + 3 dy + 9 dz].
using cube_neighbours = std::array<double, 27>;

/// The least of (u, linear between neighbours, at y) + sqrt(y . S^-1 y) over y on 48 triangles between the neighbours,
/// sought in each by sections.
double hopf_lax_minimum(const mat3& s, const cube_neighbours& v);

/// The u for which sum of weight max(0, u - lower)^2 is 1, by bisection. `lower`: the smaller value of either side.
double selling_root(const std::array<double, 6>& weight, const std::array<double, 6>& lower);

}  // namespace voxherd::reference
