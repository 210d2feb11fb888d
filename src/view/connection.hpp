#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/device.hpp"
#include "src/analyses/connect/arrivals.hpp"
#include "src/analyses/connect/fronts.hpp"
#include "src/analyses/connect/inputs.hpp"
#include "src/analyses/connect/paths.hpp"
#include "src/analyses/connect/pathway.hpp"
#include "src/scan/label_image.hpp"
#include "src/view/connection_request.hpp"

namespace voxherd::view {

/// A solved connection of two ends: what `voxherd connect` finds for them.
struct connection {
  std::uint64_t number = 0;  ///< 1, 2, ...
  pathway way;
  region_table table;
  std::vector<float> level;    ///< joining_levels() up to largest_epsilon
  std::vector<float> path_mm;  ///< the least-cost path, from the end `to` to `from`, three numbers per point
  double path_FA = 0;          ///< mean along it; NaN without a path
  double part_outside = 0;     ///< part of its pathway outside white matter
  double field_seconds = 0;    ///< 0 if the metric is that of the connection before
  double device_seconds = 0;   ///< device time of the two fronts
  double front_seconds = 0;    ///< time of the fronts with everything around them
  double pathway_seconds = 0;
};

/// The connection that the page asks for; what it cannot change is that of `base`. Throws failure (usage).
connection_request make_connection_request(const asked_connection& asked, const connect_request& base);

/// Sets an end of `r`; a region is one of the image `parcellation`.
void set_end(const chosen_end& end, end_side side, const std::string& parcellation, connect_request& r);

/// A newer request has replaced this one.
struct replaced {};

/// Least-cost paths.
struct fibre_set {
  std::vector<std::uint64_t> offsets{0};  ///< first point of each path
  std::vector<float> position_mm;         ///< three numbers per point
  std::vector<float> cost;                ///< cost of each path
};

/// Solves for connections, with what they have in common kept: tensors, the field of the last metric, its solver on the
/// device. Uses the functions of `voxherd connect`. For one thread. Throws failure (bad_data) for ends without a path.
class connection_solver {
 public:
  /// `request`: inputs and settings of connect, without ends. `parcellation`: a file, or "". By one process.
  connection_solver(const connect_request& request, tensor_source&& tensors, const std::string& parcellation,
                    const device& d);

  const connect_inputs& inputs() const { return in_; }
  const connect_request& request() const { return request_; }
  /// Linear indices of all voxels with a tensor inside --within, and their FA. Of these, inputs().voxels are the ones
  /// that --within-fa keeps.
  const std::vector<std::uint64_t>& voxels() const { return voxels_; }
  const std::vector<float>& FA() const { return FA_; }
  /// Values of inputs().voxels as values of voxels(); NaN for the others.
  std::vector<float> spread(std::span<const float> values) const;
  const std::optional<label_image>& parcellation() const { return parcellation_; }
  std::string unit() const { return cost_unit(in_.options.how); }

  /// Throws `replaced` soon after `is_replaced()` is true.
  const connection& solve(const connection_request& request, std::function<bool()> is_replaced = {});
  /// The last one. Throws failure (usage) if there is none.
  const connection& last() const;
  /// Traces paths of the last connection. Throws failure (usage) if it is not the one that the request means.
  fibre_set trace(const fibre_request& request);
  /// Voxels of its pathway, as indices of inputs().voxels. Throws as above.
  std::vector<std::uint32_t> pathway_voxels(std::uint64_t connection, double epsilon) const;

 private:
  /// Where its paths stay.
  void choose_voxels(const connect_request& request);
  /// The field and the solver of a request.
  void prepare(const connect_request& request);
  void choose(end_side side, const chosen_end& end);
  /// Throws failure (bad_data), in the words of the page.
  std::uint64_t voxel_at(end_side side, const point_in_mm& mm) const;
  struct arrival_pair {
    std::vector<float> from, to;
  };
  arrival_pair solve_fronts(const std::function<bool()>& is_replaced);
  bool is_on_pathway(std::size_t voxel, double epsilon) const;
  void check_is_last(std::uint64_t connection) const;

  connect_request request_;
  connect_inputs in_;
  device device_;
  std::optional<label_image> parcellation_;
  std::vector<std::uint64_t> voxels_;
  std::vector<float> FA_, passable_FA_;  ///< of voxels_ and of in_.voxels
  std::vector<std::uint8_t> white_matter_;
  std::unique_ptr<voxel_neighbours> space_;
  std::optional<front_field> field_;
  std::unique_ptr<connect::solver> solver_;
  connection last_;
  std::uint64_t solved_ = 0;
};

/// The least-cost path from the first front's region to the second's, traced back: points in mm from the second region
/// to the first. Empty if there is none.
std::vector<float> trace_least_path(const connect::solver& solver, const region_table& table);

/// Mean of the values of the voxels that a path passes, weighted by its length in them; NaN without such voxels.
/// `voxels`: increasing linear indices of the grid; `values`: one for each.
double mean_along(std::span<const float> path_mm, const image_grid& grid, std::span<const std::uint64_t> voxels,
                  std::span<const float> values);

}  // namespace voxherd::view
