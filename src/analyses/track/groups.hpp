#pragma once

#include "core/analysis.hpp"
#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// The step that draws the streamlines: items are groups of them, with one row of integer counts each. The result is
/// the sum of the rows, which does not depend on who drew which group.
class streamline_groups final : public analysis {
 public:
  streamline_groups(const track_inputs& inputs, const device& d);

  std::string name() const override { return "track-groups"; }
  const image_grid& grid() const override { return inputs_.space.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return first_voxels_; }
  std::vector<output_spec> outputs() const override;
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override;

 private:
  const track_inputs& inputs_;
  device device_;
  std::vector<std::uint64_t> first_voxels_;  ///< of each group's first seed
};

}  // namespace voxherd
