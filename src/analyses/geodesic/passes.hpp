#pragma once

#include "core/analysis.hpp"
#include "core/step_outputs.hpp"
#include "kernels/geodesic/tracker.hpp"
#include "src/analyses/geodesic/connections.hpp"
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

/// Number of points of a fibre, including its ends, for about the requested distance, but never closer than steps.
std::uint64_t count_points(const scored_fibre& f, double distance_mm);

/// Outputs of `voxherd geodesic` for each fibre, of which the scores come first, and for each of its points.
struct fibre_outputs {
  static constexpr output after_scores[] = {
      {"fibre", element_type::uint64, 1, "1",
       "number of the path: number of its seed times the directions per seed, plus number of its direction",
       output_layout::items},
      {"position", element_type::float32, 3, "mm", "position in the world, RAS+", output_layout::points},
      {"FA", element_type::float32, 1, "1", "fractional anisotropy of the voxel", output_layout::points},
      {"relative_speed", element_type::float32, 1, "1", "speed in the metric over the largest one there, 0 to 1",
       output_layout::points},
  };
  static constexpr auto table = joined(geodesic::fibre_scores::table, after_scores);
};

/// Pass two: integrates the chosen fibres again and writes their points. Items are fibres, by region pair, best first.
class winners final : public analysis {
 public:
  winners(const geodesic_inputs& inputs, const tensor_field::field& field, const connections& found);

  std::string name() const override { return "geodesic"; }
  const image_grid& grid() const override { return inputs_.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return seed_voxels_; }
  std::vector<output_spec> outputs() const override { return output_specs<fibre_outputs>(); }
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
