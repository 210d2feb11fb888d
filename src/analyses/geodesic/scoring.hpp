#pragma once

#include "core/analysis.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "src/analyses/geodesic/inputs.hpp"

namespace voxherd {

/// Pass one: integrates every fibre and keeps only its scores. Items are fibres, seed after seed.
class scoring final : public analysis {
 public:
  scoring(const geodesic_inputs& inputs, const tensor_field::field& field);

  std::string name() const override { return "geodesic-scores"; }
  const image_grid& grid() const override { return inputs_.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return seed_voxels_; }
  std::vector<output_spec> outputs() const override;
  std::size_t device_bytes_per_item() const override { return geodesic::device_bytes_per_fibre(); }
  std::unique_ptr<batch_runner> make_runner() const override;
  int lanes() const override { return field_.where.kind == backend::cuda ? 2 : 1; }
  std::uint64_t max_items_per_batch() const override { return 1 << 20; }

 private:
  const geodesic_inputs& inputs_;
  const tensor_field::field& field_;
  std::vector<std::uint64_t> seed_voxels_;
};

}  // namespace voxherd
