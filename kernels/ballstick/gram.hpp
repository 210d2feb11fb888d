#pragma once

namespace voxherd::ballstick {

/// How a team sums the products of rows of N numbers: `type`, with clear(), add(row) and finish(team, packed), and
/// `shared_doubles` that it wants in memory the team shares. Specialised beside each kind of team.
template <class Team, int N>
struct gram_of;

}  // namespace voxherd::ballstick
