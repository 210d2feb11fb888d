#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// Times of this rank's replicates, seconds.
struct bootstrap_times {
  double data_fit = 0;  ///< once
  double fits = 0, fields = 0, set_ups = 0, solves = 0;
  std::uint64_t replicates = 0;

  nlohmann::json as_json() const;  ///< of one replicate
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
  const std::vector<std::uint64_t>& item_voxels() const override { return item_voxels_; }
  /// `cost`: (regions, regions), one row per front, like the connectome's matrix; for two ends one number, the smallest
  /// sum of both fronts' arrival times.
  std::vector<output_spec> outputs() const override;
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override { return 1; }

  bootstrap_times times() const;

 private:
  struct clocks;
  const connect_inputs& inputs_;
  device device_;
  std::vector<std::uint64_t> item_voxels_;
  std::unique_ptr<clocks> clocks_;
};

/// Seconds in which this process fits one replicate's tensors and prepares its field, without solving for fronts.
double time_replicate_field(const connect_inputs& inputs, const device& d);

}  // namespace voxherd
