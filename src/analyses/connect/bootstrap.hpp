#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "core/step_outputs.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// Times of this rank's replicates, seconds; those of replicates solved at the same time are added.
struct bootstrap_times {
  double data_fit = 0;  ///< once
  double fits = 0, fields = 0, set_ups = 0, solves = 0;
  std::uint64_t replicates = 0;

  nlohmann::json as_json() const;  ///< the mean times of one replicate
};

struct replicate_outputs {
  using inputs = connect_inputs;
  using shape = std::vector<std::uint64_t>;
  static shape costs(const inputs& in) {
    const std::uint64_t regions = in.regions.regions();
    return in.options.is_connectome() ? shape{regions, regions} : shape{1};
  }
  static std::string cost(const inputs& in) { return cost_unit(in.options.how); }

  static constexpr step_output<inputs> table[] = {
      {"cost",
       element_type::float32,
       0,
       "",
       "least arrival time of each region's front in each region; for two ends the least sum of both fronts' times",
       {.shape = costs, .unit = cost}},
      {"kept", element_type::uint32, 1, "1", "number of voxels that kept the tensor of the original data"},
  };
};

/// The step that estimates the uncertainty of costs: items are replicates of a wild bootstrap
/// (kernels/tensor/bootstrap.hpp), solved like the data, with the same mask and regions. A voxel whose replicate cannot
/// be fitted keeps the tensor of the data.
class bootstrap_costs final : public analysis {
 public:
  /// `inputs` must contain signals.
  bootstrap_costs(const connect_inputs& inputs, const device& d);
  ~bootstrap_costs() override;

  std::string name() const override { return "connect-bootstrap"; }
  const image_grid& grid() const override { return inputs_.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<output_spec> outputs() const override { return output_specs<replicate_outputs>(inputs_); }
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override { return 1; }
  /// Replicates at the same time: on a GPU up to three, on CPUs one per four threads; fewer if they would need more
  /// than 8 GB of the device's memory.
  int lanes() const override;

  bootstrap_times times() const;
  /// Seconds in which this process fits one replicate's tensors, and prepares its field and the solver, without solving
  /// for fronts.
  double time_preparation() const;

  /// As tensor_bootstrap::fit_image(), into the part of the image that fronts spread through. For any thread.
  using fit_function = std::function<std::uint64_t(std::uint64_t replicate, float* tensors)>;

 private:
  class shared;
  fit_function fitter() const;  ///< after the data have been fitted

  const connect_inputs& inputs_;
  device device_;
  std::vector<std::uint64_t> voxels_;
  std::unique_ptr<shared> shared_;
};

/// Statistics of one cost over the replicates. A replicate without a path has an infinite cost, which counts in the
/// interval but not in the mean and the deviation.
struct replicate_summary {
  double low = 0, high = 0;  ///< the interval's ends
  double mean = 0, sd = 0;   ///< NaN without finite costs; sd also with only one
  std::uint64_t valid = 0;   ///< finite costs
};

/// Percentile interval (Efron, Ann Stat 7:1, 1979): the quantiles (1 -+ percent / 100) / 2, linear between the sorted
/// costs. `costs`: at least one; sorted here.
replicate_summary summarise(std::vector<float>& costs, double percent);

/// Throws failure (usage) if the replicates' costs need more than 16 GB of rank 0's memory.
void refuse_too_many_costs(const connect_inputs& inputs);

/// Receives the replicates' costs while they are computed.
class replicate_collector {
 public:
  void add(const batch& replicates, std::span<const std::span<const std::byte>> outputs);
  /// The costs of all replicates, one row each; on rank 0. Collective.
  std::vector<float> gather(const session& s);

 private:
  std::vector<std::uint64_t> replicates_;
  std::vector<float> costs_;
};

/// For every cost of the replicates' rows: constants cost_low, cost_high, cost_mean, cost_sd and cost_replicates, with
/// the matrix's shape in group "connectome"; for two ends single numbers in group "pathway", and replicate_cost with
/// all replicates. By one process; logs a summary. Throws failure.
std::vector<constant> interval_constants(const std::vector<float>& rows, const connect_inputs& inputs);

}  // namespace voxherd
