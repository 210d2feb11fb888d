#pragma once

namespace voxherd::voxel_model {

/// How a team sums the products of rows of N numbers: `type`, with clear(), add(row) and finish(team, packed), and
/// `shared_doubles` of the team's shared memory. Specialised in the file of each kind of team.
template <class Team, int N>
struct gram_of;

/// How a team solves N symmetric positive definite equations: solve(team, memory, matrix, right, x), true on success,
/// with matrix(i, j) and right(i) giving the elements and `shared_doubles` of the team's shared memory.
template <class Team, int N>
struct solver_of;

}  // namespace voxherd::voxel_model
