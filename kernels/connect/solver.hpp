#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/device.hpp"
#include "kernels/connect/settings.hpp"

/// Arrival times u of fronts that spread with direction-dependent speed: grad(u) . S grad(u) = 1, u given at the
/// source, S the square of the speed (Jeong 2007, equation 5, S being the letter M there). u(y) is the cost of the
/// cheapest path, the least integral of sqrt(c'(t) . S^-1 c'(t)) dt.
///
/// Voxels inside the mask are numbered by increasing linear index (x fastest); those numbers name voxels here.
namespace voxherd::connect {

/// Tensors on a masked grid. In index space (voxels are cubes of side 1) as geodesic::field_kind::tensor has them.
struct speed_field {
  std::array<std::uint64_t, 3> size{};
  std::array<double, 9> axes_mm{};    ///< row-major 3x3, columns: world vector (mm) of one voxel along each image axis
  std::array<double, 3> origin_mm{};  ///< world place of voxel (0, 0, 0)'s centre
  std::span<const float> tensors;     ///< (nz, ny, nx, 8): S xx, xy, xz, yy, yz, zz, 0, 0; positive definite
  std::span<const std::uint8_t> inside;  ///< (nz, ny, nx): 1 in the mask
};

/// Where a front starts.
struct start {
  std::uint32_t voxel;
  float arrival;  ///< 0, or the exact value near a point
};

/// Fronts to be solved for together: front k starts at starts[offsets[k]] to starts[offsets[k + 1] - 1].
struct start_list {
  std::vector<std::uint64_t> offsets{0};
  std::vector<start> starts;
  std::size_t fronts() const { return offsets.size() - 1; }
};

struct solve_report {
  double seconds = 0;        ///< on the device, without copies
  std::uint64_t visits = 0;  ///< of blocks
  std::uint32_t rounds = 0;  ///< of all active blocks
  bool converged = true;     ///< false: most_rounds were not enough; values are upper bounds
};

/// Groups of voxels whose arrival times are summed up; a voxel may be in several.
struct region_list {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> voxels;
  std::size_t regions() const { return offsets.size() - 1; }
};

/// What a front is in a region.
struct region_cost {
  float least;                ///< smallest arrival time, infinite where none is reached
  std::uint32_t least_voxel;  ///< where; the first of equals; 2^32 - 1 for none
  float mean;                 ///< over the voxels reached; infinite where there are none
  std::uint32_t reached;      ///< voxels with a finite arrival time
};

/// A path back from a voxel to the source of a front.
struct path_request {
  std::uint32_t front;
  std::uint32_t voxel;
};

enum class path_end : std::uint32_t {
  source,         ///< where the front started
  steps,          ///< max_steps were not enough
  stuck,          ///< no neighbour is nearer to the source
  never_reached,  ///< the voxel has no arrival time
};

struct path_score {
  float length_mm;      ///< Euclidean
  float cost;           ///< integral of sqrt(c' . S^-1 c') along it; to be compared with the voxel's arrival time
  std::uint32_t steps;  ///< points are steps + 1
  path_end end;
};

/// Solves on one device. Owns its memory there; used by one thread. Throws device_error.
class solver {
 public:
  virtual ~solver() = default;

  virtual std::uint64_t voxels() const = 0;  ///< inside the mask
  virtual std::uint64_t blocks() const = 0;  ///< of 4 x 4 x 4, stored

  /// Solves for all fronts in one go. Results stay on the device until the next call. A front's result does not depend
  /// on the others.
  virtual solve_report solve(const start_list& fronts) = 0;

  /// (count, voxels()) arrival times of the fronts from `first` on; infinity where no path leads.
  virtual void arrivals(std::size_t first, std::size_t count, float* to) const = 0;

  /// What follows is about the fronts last solved for.
  virtual void set_regions(const region_list& regions) = 0;
  virtual void region_costs(region_cost* to) const = 0;  ///< (fronts, regions)

  virtual void score_paths(std::span<const path_request> paths, const path_settings& how, path_score* to) const = 0;
  /// Path i has `offsets[i + 1] - offsets[i]` points from offsets[i] - offsets[0] on, as many as scored (steps + 1),
  /// from the voxel to the source. `world_mm`: three numbers a point.
  virtual void trace_paths(std::span<const path_request> paths, const path_settings& how,
                           std::span<const std::uint64_t> offsets, float* world_mm) const = 0;
};

/// `field` is copied. After use_device(d). Throws device_error, and std::invalid_argument for arrays of other sizes
/// than field.size says, more than 2^28 voxels, a mask without voxels, settings out of range.
std::unique_ptr<solver> make_solver(const device& d, const speed_field& field, const solver_settings& settings);

/// Device memory that a front takes in solve(), for the choice of how many at once.
std::size_t device_bytes_per_front(std::uint64_t blocks);

/// The starts of a front from a point: exact arrival times sqrt(d . S^-1 d), S that of the nearest voxel, in all voxels
/// within `radius_voxels` that a straight line inside the mask leads to. `index`: index coordinates. Throws
/// std::invalid_argument when the nearest voxel is not in the mask.
std::vector<start> starts_at_point(const speed_field& field, const std::array<double, 3>& index, double radius_voxels);

}  // namespace voxherd::connect
