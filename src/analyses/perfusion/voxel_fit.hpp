#pragma once

#include "src/analyses/common/voxelwise.hpp"
#include "src/analyses/perfusion/inputs.hpp"
#include "src/analyses/perfusion/tissue_fit.hpp"

namespace voxherd {

/// The fit of every voxel as a run: one item per voxel of the mask.
class perfusion_analysis final : public voxelwise_base<perfusion_inputs> {
 public:
  /// Inputs, settings and the mean curve's fit must outlive this. `regions`: constants of --regions.
  perfusion_analysis(perfusion_inputs& inputs, const perfusion_settings& o, const tissue_fit& tissue, const device& d,
                     std::vector<constant> regions);

  std::vector<output_spec> outputs() const override;
  std::vector<constant> constants() const override;
  std::unique_ptr<item_counts> make_counts() const override;
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  /// A GPU runs about 50,000 threads at once.
  std::uint64_t max_items_per_batch() const override { return 131072; }
  std::uint64_t min_items_per_batch() const override { return 65536; }

 private:
  const perfusion_settings& options_;
  const tissue_fit& tissue_;
};

}  // namespace voxherd
