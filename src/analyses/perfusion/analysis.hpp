#pragma once

#include "core/device.hpp"
#include "kernels/perfusion/perfusion.hpp"
#include "src/analyses/perfusion/inputs.hpp"
#include "src/analyses/perfusion/tissue_fit.hpp"

namespace voxherd {

/// The fit of every voxel as a run: an item a voxel of the mask.
class perfusion_analysis final : public analysis {
 public:
  /// All of them outlive this.
  perfusion_analysis(perfusion_inputs& inputs, const perfusion_options& o, const tissue_fit& tissue, const device& d);

  std::string name() const override { return "perfusion"; }
  const image_grid& grid() const override { return inputs_.grid(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return inputs_.item_voxels(); }
  std::vector<output_spec> outputs() const override;
  std::vector<constant> constants() const override;
  item_input* input() override { return &inputs_; }
  std::unique_ptr<item_counts> make_counts() const override;
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  /// A GPU has some 50,000 threads at work at once.
  std::uint64_t most_items_per_batch() const override { return 131072; }
  std::uint64_t fewest_items_per_batch() const override { return 65536; }
  int lanes() const override { return device_.kind == backend::cuda ? 2 : 1; }

 private:
  perfusion_inputs& inputs_;
  const perfusion_options& options_;
  const tissue_fit& tissue_;
  device device_;
};

}  // namespace voxherd
