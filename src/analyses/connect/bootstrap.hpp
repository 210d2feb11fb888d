#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "src/analyses/connect/inputs.hpp"

namespace voxherd {

/// Where the time of this rank's replicates went, seconds.
struct bootstrap_times {
  double data_fit = 0;  ///< once
  double fits = 0, fields = 0, set_ups = 0, solves = 0;
  std::uint64_t replicates = 0;

  nlohmann::json as_json() const;  ///< of one replicate
};

/// The step that says how sure costs are: items are replicates of a wild bootstrap (kernels/tensor/bootstrap.hpp). Each
/// is solved as the data were, with the same mask and the same regions; a voxel whose replicate cannot be fitted keeps
/// the data's tensor.
class bootstrap_costs final : public analysis {
 public:
  /// `inputs` hold signals.
  bootstrap_costs(const connect_inputs& inputs, const device& d);
  ~bootstrap_costs() override;

  std::string name() const override { return "connect-bootstrap"; }
  const image_grid& grid() const override { return inputs_.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return item_voxels_; }
  /// `cost`: (regions, regions), front by front, as the connectome's matrix; for two ends one number, the least sum of
  /// both fronts' arrival times.
  std::vector<output_spec> outputs() const override;
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t most_items_per_batch() const override { return 1; }

  bootstrap_times times() const;

 private:
  struct clocks;
  const connect_inputs& inputs_;
  device device_;
  std::vector<std::uint64_t> item_voxels_;
  std::unique_ptr<clocks> clocks_;
};

}  // namespace voxherd
