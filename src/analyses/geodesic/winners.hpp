#pragma once

#include "core/analysis.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "src/analyses/geodesic/connections.hpp"
#include "src/analyses/geodesic/inputs.hpp"

namespace voxherd {

/// Number of points of a fibre, including its ends, for about the requested distance, but never closer than steps.
std::uint64_t count_points(const scored_fibre& f, double distance_mm);

/// Outputs of `voxherd geodesic` for each fibre and each of its points.
std::vector<output_spec> fibre_outputs();

/// Pass two: integrates the chosen fibres again and writes their points. Items are fibres, by region pair, best first.
class winners final : public analysis {
 public:
  winners(const geodesic_inputs& inputs, const tensor_field::field& field, const connections& found);

  std::string name() const override { return "geodesic"; }
  const image_grid& grid() const override { return inputs_.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return seed_voxels_; }
  std::vector<output_spec> outputs() const override { return fibre_outputs(); }
  std::vector<constant> constants() const override { return found_.matrices; }
  std::vector<std::uint64_t> point_offsets() const override { return offsets_; }
  bool may_be_empty() const override { return true; }
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  int lanes() const override { return field_.where.kind == backend::cuda ? 2 : 1; }

 private:
  const geodesic_inputs& inputs_;
  const tensor_field::field& field_;
  const connections& found_;
  std::vector<std::uint64_t> seed_voxels_, offsets_, fibres_;
  std::vector<std::uint32_t> steps_;
};

}  // namespace voxherd
