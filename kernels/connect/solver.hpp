#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "kernels/connect/solver_types.hpp"

namespace voxherd::connect {

/// Solves on one device and owns memory there. Use from one thread. Throws device_error.
class solver {
 public:
  virtual ~solver() = default;

  virtual std::uint64_t voxels() const = 0;  ///< in the mask
  virtual std::uint64_t blocks() const = 0;  ///< stored blocks of 4 x 4 x 4 voxels

  /// Replaces the tensors. The fronts of earlier calls of solve() are lost. `tensors`: as speed_field::tensors, in the
  /// memory of the solver's device.
  virtual void set_speeds(const float* tensors) = 0;

  /// Solves for all fronts at once. Results stay on the device until the next call. The result of a front does not
  /// depend on the others.
  virtual solve_report solve(const start_list& fronts) = 0;

  /// Asked before each round of a front, from any thread; once it is true, solve() ends early. On a GPU all rounds are
  /// one kernel of milliseconds, which is completed.
  void stop_when(std::function<bool()> stopped) { stopped_ = std::move(stopped); }

  /// Copies (count, voxels()) arrival times of the fronts from `first` on; infinity where unreached.
  virtual void arrivals(std::size_t first, std::size_t count, float* to) const = 0;

  /// The functions below refer to the fronts of the last solve().
  virtual void set_regions(const region_list& regions) = 0;
  virtual void region_costs(region_cost* to) const = 0;  ///< (fronts, regions)

  virtual void score_paths(std::span<const path_request> paths, const path_settings& settings,
                           path_score* to) const = 0;
  /// Path i has `offsets[i + 1] - offsets[i]` points (steps + 1 of its score) from index offsets[i] - offsets[0] on,
  /// ordered from the voxel to the source. `world_mm`: three numbers per point.
  virtual void trace_paths(std::span<const path_request> paths, const path_settings& settings,
                           std::span<const std::uint64_t> offsets, float* world_mm) const = 0;

 protected:
  bool is_stopped() const { return stopped_ && stopped_(); }

 private:
  std::function<bool()> stopped_;
};

/// Copies `field`. Without tensors, set_speeds() must be called before solve(). Call use_device(d) first. Throws
/// device_error, and std::invalid_argument for array sizes that differ from field.size, more than 2^28 voxels, an empty
/// mask, or settings out of range.
std::unique_ptr<solver> make_solver(const device& d, const speed_field& field, const solver_settings& settings);

// Its backends.
struct solver_parts;  // block_graph.hpp
std::unique_ptr<solver> make_solver_cpu(const device& d, solver_parts&& parts, std::span<const float> tensors);
std::unique_ptr<solver> make_solver_cuda(const device& d, solver_parts&& parts, std::span<const float> tensors);

/// Device memory per front during solve(), used to choose the number of fronts solved at once.
std::size_t device_bytes_per_front(std::uint64_t blocks);

/// Starts of a front from a point: exact arrival times sqrt(d . S^-1 d), with S of the nearest voxel, in all voxels
/// within `radius_voxels` that are connected to it by a straight line in the mask. `index`: index coordinates. Throws
/// std::invalid_argument if the nearest voxel is not in the mask.
std::vector<start> starts_at_point(const speed_field& field, const std::array<double, 3>& index, double radius_voxels);
/// The same with tensors that are elsewhere: `tensor_of` gives S of a voxel by its linear index.
std::vector<start> starts_at_point(const speed_field& field, const std::array<double, 3>& index, double radius_voxels,
                                   const std::function<std::array<float, 6>(std::size_t)>& tensor_of);

}  // namespace voxherd::connect
