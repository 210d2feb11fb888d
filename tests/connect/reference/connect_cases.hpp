#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/connect/solver.hpp"
#include "tests/geodesic/reference/geodesic_fields.hpp"

/// Tensor fields for the Hamilton-Jacobi solver, most of them with known arrival times.
namespace voxherd::reference {

/// Tensors S on a grid with a source. Index space: voxels are cubes of side 1; positions are index coordinates.
struct connect_case {
  std::string name;
  std::array<std::uint64_t, 3> size{};
  std::vector<float> tensors;        ///< (nz, ny, nx, 8), as in speed_field
  std::vector<std::uint8_t> inside;  ///< (nz, ny, nx)
  vec3 source{};
  std::function<double(const vec3& from, const vec3& to)> distance;  ///< cost of the least-cost path; empty if unknown

  connect::speed_field field() const;
  bool has(const vec3& x) const;            ///< whether the voxel that contains x is in the grid and in the mask
  std::size_t linear(const vec3& x) const;  ///< linear index of the voxel nearest to x, which must be in the grid
};

/// f at the grid's voxel centres, S = A^-1 f A^-T with the grid's axes A. `source`: index coordinates. The distance is
/// known if f is a solved_field.
connect_case sampled_case(const std::string& name, std::shared_ptr<const tensor_formula> f, const sampling_grid& grid,
                          const vec3& source);

/// D = across I + (1 - across) t t^T: speed 1 along t, across = 1 / ratio.
mat3 fibre_tensor(const vec3& t, double ratio);

/// Cases of `side`^3 voxels over the same cube of 64 units, so that a larger side is a finer grid. Speeds and positions
/// are those of side 64.
namespace connect_cases {

connect_case constant(const mat3& S, std::uint64_t side);  ///< from the centre
connect_case paper_example(std::uint64_t side);            ///< Jeong 2007, example 1: 1 on the diagonal, 0.9 next to it
connect_case half_space(std::uint64_t side);               ///< S = ((z + 8) / 32)^2 I, from (32, 32, 24)
connect_case fish_eye(std::uint64_t side);                 ///< the focus is outside
connect_case pullback(std::uint64_t side);                 ///< turning tensors with ratios of 14 to 22, from the centre

/// Fibres wound around (31.5, 31.5) with a pitch of 24; speed 1 along them, sqrt(across) otherwise; from (48, 31, 4).
connect_case helix(double across, std::uint64_t side);

/// The helix through the source of helix(), in its coordinates of side 64.
vec3 on_helix(double turns);
double helix_length(double turns);

enum class passage {
  corridor,  ///< one voxel wide and high, eight long
  edge,      ///< the rooms touch along an edge: not connected
  corner,    ///< the rooms touch in a corner: not connected
  wall,      ///< a slanted wall of one voxel between them, with touching edges: not connected
};

/// Two rooms of the same tensor S in `side`^3 voxels; the source is in the lower one. Sides from 20 on.
connect_case two_rooms(passage how, const mat3& S, std::uint64_t side);

/// The first and last voxel of two_rooms' corridor, inside its walls.
std::array<vec3, 2> corridor_ends(std::uint64_t side);
/// A position in the second room.
vec3 other_room(passage how, std::uint64_t side);

/// A cube with the source, and a separate smaller cube.
connect_case island(const mat3& S, std::uint64_t side);
vec3 on_island(std::uint64_t side);

/// The pullback on a grid of three odd sizes; a fifth of its voxels are outside the mask.
connect_case ragged();

}  // namespace connect_cases
}  // namespace voxherd::reference
