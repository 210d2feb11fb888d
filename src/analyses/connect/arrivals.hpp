#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "core/step_outputs.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/connect/fronts.hpp"

namespace voxherd {

/// Cost where no path leads.
inline constexpr float infinite = std::numeric_limits<float>::infinity();

/// Which regions are nearest to a voxel. Of regions with the same cost, the earlier one is first, in whatever order
/// they are added.
struct nearest_regions {
  std::vector<std::int32_t> first, second;     ///< positions in the list of regions; -1: none
  std::vector<float> first_cost, second_cost;  ///< infinite: none

  explicit nearest_regions(std::size_t voxels);
  std::size_t voxels() const { return first.size(); }

  /// Adds the fronts of consecutive regions: `arrival` has one row of voxels per front.
  void add(std::size_t first_region, std::span<const float> arrival, int threads);
  /// Adds what was found among other regions.
  void add(const nearest_regions& others);
};

/// Among the regions of all ranks, of which each has searched some. On rank 0; empty on the others. Collective.
nearest_regions gather_nearest(const session& s, nearest_regions own);

/// A front's arrival time at every voxel, and for every region the arrival time and the path to it.
struct arrival_outputs {
  using inputs = connect_inputs;
  using shape = std::vector<std::uint64_t>;
  static shape voxels(const inputs& in) { return {in.voxels.size()}; }
  static shape regions(const inputs& in) { return {in.labels.size()}; }
  static std::string cost(const inputs& in) { return cost_unit(in.options.how); }

  static constexpr step_output<inputs> table[] = {
      {"arrival",
       element_type::float32,
       0,
       "",
       "arrival time at each voxel of /passable/voxel; infinite where no path leads",
       {.shape = voxels, .unit = cost}},
      {"cost", element_type::float32, 0, "", "least arrival time in each region", {.shape = regions, .unit = cost}},
      {"mean_cost",
       element_type::float32,
       0,
       "",
       "mean arrival time in the reached voxels of each region",
       {.shape = regions, .unit = cost}},
      {"reached",
       element_type::uint32,
       0,
       "1",
       "number of voxels of each region that the front reaches",
       {.shape = regions}},
      {"best_voxel",
       element_type::uint32,
       0,
       "1",
       "number of the voxel with the least arrival time; 4294967295: none",
       {.shape = regions}},
      {"length_mm", element_type::float32, 0, "mm", "length of the path back from there", {.shape = regions}},
      {"path_cost",
       element_type::float32,
       0,
       "",
       "cost along that path, to be compared with the arrival time",
       {.shape = regions, .unit = cost}},
      {"path_steps", element_type::uint32, 0, "1", "steps of that path", {.shape = regions}},
      {"path_end",
       element_type::uint8,
       0,
       "code",
       "0 the front's region, 1 too many steps, 2 stuck, 3 never reached",
       {.shape = regions}},
  };
};

/// The solving step: items are fronts, one per region.
class arrival_times final : public analysis {
 public:
  arrival_times(const connect_inputs& inputs, const front_field& field, const device& d);

  std::string name() const override { return "connect-arrivals"; }
  const image_grid& grid() const override { return inputs_.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return front_voxels_; }
  std::vector<output_spec> outputs() const override { return output_specs<arrival_outputs>(inputs_); }
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

/// The table of the first `fronts` fronts of the solver, at the regions that it was given. `cost_scale`: the field's.
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
  /// Gathers the results of all ranks on rank 0. Collective.
  front_results gather(const session& s);

 private:
  const connect_inputs& inputs_;
  int threads_;
  std::vector<std::uint64_t> fronts_;  ///< numbers of the fronts in the rows of `own_`
  region_table own_;
  nearest_regions nearest_;
  std::vector<float> arrival_;
};

std::vector<known_output> make_maps(const nearest_regions& nearest, const std::vector<std::int32_t>& labels,
                                    const std::string& unit);

/// Matrices of group "connectome": row: start of the paths, column: end.
std::vector<constant> make_matrices(const region_table& table, const std::vector<std::int32_t>& labels,
                                    const std::string& unit);

/// Matrices isotropic_cost and gain, from the costs with equal speeds in all directions.
std::vector<constant> make_gain_matrices(const region_table& table, const region_table& isotropic,
                                         const std::string& unit);

void log_connectome(const region_table& table, const std::string& unit);

}  // namespace voxherd
