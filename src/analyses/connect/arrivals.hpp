#pragma once

#include "core/analysis.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/connect/fronts.hpp"
#include "src/analyses/connect/nearest.hpp"

namespace voxherd {

/// The solving step: items are fronts, one per region. A row has the front's arrival time at every voxel, and for
/// every region the arrival time and the path to it.
class arrival_times final : public analysis {
 public:
  arrival_times(const connect_inputs& inputs, const front_field& field, const device& d);

  std::string name() const override { return "connect-arrivals"; }
  const image_grid& grid() const override { return inputs_.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return front_voxels_; }
  std::vector<output_spec> outputs() const override;
  std::vector<constant> constants() const override;
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override;

 private:
  const connect_inputs& inputs_;
  const front_field& field_;
  device device_;
  std::vector<std::uint64_t> front_voxels_;
};

/// The fronts' results at the regions, (fronts, regions) each.
struct region_table {
  std::size_t regions = 0;
  std::vector<float> cost, mean_cost, length_mm, path_cost;  ///< infinite if there is no path
  std::vector<std::uint32_t> best_voxel, reached, path_steps;
  std::vector<std::uint8_t> path_end;  ///< connect::path_end
};

/// The path of a pair is traced twice, from either region back to the other. Returns the element of the table with the
/// one that costs less when integrated along it, the same for (i, j) and (j, i). Neighbouring regions need this: the
/// stencil of a voxel with a sharp tensor can reach the other region across voxels with different tensors. The arrival
/// time there is then too low, and the path that starts there is a detour.
std::size_t cheaper_path(const region_table& table, std::size_t i, std::size_t j);

inline constexpr double max_path_excess = 1.5;

/// Whether a traced path costs so much more than its arrival time that neither can be relied on. False without a path.
bool is_detour(float path_cost, float cost);

/// Of the `fronts` that the solver has solved for, at the regions that it was given. `cost_scale`: of the field.
region_table make_region_table(const connect::solver& solver, std::size_t fronts, std::size_t regions,
                               float cost_scale);

/// What the later steps need of the fronts.
struct front_results {
  region_table table;
  nearest_regions nearest{0};               ///< for a connectome
  std::vector<std::vector<float>> arrival;  ///< for two ends: each front's arrival time at every voxel
};

/// Collects the results of the fronts whose batches this rank receives, in any order.
class front_collector {
 public:
  front_collector(const connect_inputs& inputs, const device& d);

  /// A batch of arrival_times.
  void add(const batch& fronts, std::span<const std::span<const std::byte>> outputs);
  /// Of all ranks, on rank 0. Collective.
  front_results gather(const session& s);

 private:
  const connect_inputs& inputs_;
  int threads_;
  std::vector<std::uint64_t> fronts_;  ///< of the rows of `own_`
  region_table own_;
  nearest_regions nearest_;
  std::vector<float> arrival_;
};

}  // namespace voxherd
