#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

/// Arrival times u of fronts with direction-dependent speed: grad(u) . S grad(u) = 1, with u given at the source and S
/// the square of the speed (Jeong 2007, equation 5, where S is called M). u(y) is the cost of the least-cost path, the
/// minimum of the integral of sqrt(c'(t) . S^-1 c'(t)) dt.
///
/// Voxels in the mask are numbered by increasing linear index (x fastest); the functions here use these numbers.
namespace voxherd::connect {

/// The scheme that computes an arrival time from its neighbours'.
enum class scheme_kind {
  selling,    ///< Selling's decomposition of S into six integer directions (Mirebeau 2014)
  godunov27,  ///< Godunov's Hamiltonian over 27 cases (Jeong 2007, section 4.2)
  hl26,       ///< Hopf-Lax over the 48 tetrahedra of 26 neighbours (Bornemann & Rasch 2006)
};

struct solver_settings {
  scheme_kind scheme = scheme_kind::selling;
  int order = 1;  ///< 2: second-order differences along the directions chosen by first order; only with selling
  float tolerance = 1e-6f;  ///< smaller relative changes of an arrival time are ignored
  bool in_place = false;    ///< blocks see each other's newest values: faster, but not reproducible to the byte
};

/// How a path is traced back to its source.
struct path_settings {
  float step_voxels = 0.25f;
  std::uint32_t max_steps = 10000;
};

/// Tensors on a masked grid, in index space (voxels are cubes of side 1) as in tensor_field::field_kind::tensor.
struct speed_field {
  std::array<std::uint64_t, 3> size{};
  std::array<double, 9> axes_mm{};    ///< row-major 3x3, columns: world vector (mm) of one voxel along each image axis
  std::array<double, 3> origin_mm{};  ///< world position of the centre of voxel (0, 0, 0)
  std::span<const float>
      tensors;  ///< (nz, ny, nx, 8): S xx, xy, xz, yy, yz, zz, 0, 0; positive definite; empty if they come later
  std::span<const std::uint8_t> inside;  ///< (nz, ny, nx): 1 in the mask

  /// S of a voxel by its linear index.
  std::array<float, 6> tensor_of(std::size_t voxel) const {
    const auto s = tensors.subspan(8 * voxel, 6);
    return {s[0], s[1], s[2], s[3], s[4], s[5]};
  }
};

/// A voxel in which a front starts.
struct start {
  std::uint32_t voxel;
  float arrival;  ///< 0, or the exact value near a point
};

/// Fronts to solve for together: front k starts at starts[offsets[k]] to starts[offsets[k + 1] - 1].
struct start_list {
  std::vector<std::uint64_t> offsets{0};
  std::vector<start> starts;
  std::size_t fronts() const { return offsets.size() - 1; }
};

struct solve_report {
  double seconds = 0;        ///< on the device, without copies
  std::uint64_t visits = 0;  ///< number of block visits
  std::uint32_t rounds = 0;  ///< number of rounds over all active blocks
  bool converged = true;     ///< false: max_rounds were not enough, or it was stopped; values are upper bounds
};

/// Groups of voxels over which arrival times are averaged; a voxel may be in several groups.
struct region_list {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> voxels;
  std::size_t regions() const { return offsets.size() - 1; }

  static constexpr auto members() { return std::tuple(&region_list::offsets, &region_list::voxels); }
};

/// Statistics of a front in a region.
struct region_cost {
  float least;              ///< smallest arrival time, infinite if no voxel is reached
  std::uint32_t min_voxel;  ///< its voxel, the first in a tie; 2^32 - 1 for none
  float mean;               ///< over the reached voxels; infinite if there are none
  std::uint32_t reached;    ///< number of voxels with a finite arrival time
};

/// A path back from a voxel to the source of a front.
struct path_request {
  std::uint32_t front;
  std::uint32_t voxel;
};

enum class path_end : std::uint32_t {
  source,         ///< reached the start of the front
  steps,          ///< max_steps were not enough
  stuck,          ///< no neighbour is nearer to the source
  never_reached,  ///< the voxel has no arrival time
};

struct path_score {
  float length_mm;      ///< Euclidean
  float cost;           ///< integral of sqrt(c' . S^-1 c') along the path; compare with the voxel's arrival time
  std::uint32_t steps;  ///< the path has steps + 1 points
  path_end end;
};

}  // namespace voxherd::connect
