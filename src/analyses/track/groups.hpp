#pragma once

#include "core/analysis.hpp"
#include "core/step_outputs.hpp"
#include "mpi/run/estimate.hpp"
#include "src/analyses/track/pair_matrix.hpp"
#include "src/analyses/track/tracts.hpp"

namespace voxherd {

/// Counts of a group of streamlines. The result is their sum over all groups, which does not depend on who drew which
/// group.
struct group_outputs {
  using inputs = track_inputs;
  using shape = std::vector<std::uint64_t>;
  static shape places(const inputs& in) { return {in.place_voxels.size()}; }
  static shape seeds(const inputs& in) { return {in.plan.seed_rows()}; }
  static shape hits(const inputs& in) { return {in.plan.seed_rows(), in.columns()}; }
  static shape products(const inputs& in) { return {in.place_voxels.size(), track::direction_products}; }
  static shape words(const inputs& in) { return {track::bit_words(in.plan.per_group)}; }
  static bool has_lengths(const inputs& in) { return in.lengths; }
  static bool has_columns(const inputs& in) { return in.columns() > 0; }
  static bool has_both(const inputs& in) { return in.columns() > 0 && in.lengths; }
  static bool has_directions(const inputs& in) { return in.directions; }
  static bool keeps(const inputs& in) { return in.max_kept > 0; }

  static constexpr step_output<inputs> table[] = {
      {"density", element_type::uint32, 0, "1", "accepted streamlines that visit each place", {.shape = places}},
      {"accepted", element_type::uint32, 0, "1", "accepted streamlines of each seed of the group", {.shape = seeds}},
      {"walked", element_type::uint64, 1, "1", "steps of all streamlines"},
      {"length",
       element_type::uint64,
       0,
       "steps",
       "sum of the lengths from the seed",
       {.shape = places, .when = has_lengths}},
      {"hits",
       element_type::uint32,
       0,
       "1",
       "accepted streamlines to each region or target",
       {.shape = hits, .when = has_columns}},
      {"hit_length", element_type::uint64, 0, "steps", "sum of their lengths to it", {.shape = hits, .when = has_both}},
      {"directions",
       element_type::uint64,
       0,
       "1",
       "sums of products of components",
       {.shape = products, .when = has_directions}},
      {"accepted_bits",
       element_type::uint32,
       0,
       "1",
       "one bit per streamline: it is accepted",
       {.shape = words, .when = keeps}},
  };
};

/// A matrix whose rows or pairs are drawn together with the groups, and kept: at most one of the two.
struct drawn_matrix {
  const seed_matrix* rows = nullptr;
  const pair_matrix* pairs = nullptr;
};

/// The first matrix that counts the same streamlines as the densities and has room for a group's rows, if there is one.
drawn_matrix choose_drawn_matrix(const std::vector<seed_matrix>& matrices, const std::vector<const pair_matrix*>& pairs,
                                 const track_inputs& in, const device& d);

/// The step that draws the streamlines: items are groups of them, with one row of integer counts each.
class streamline_groups final : public analysis, public divisible_items {
 public:
  streamline_groups(const track_inputs& inputs, const device& d, const drawn_matrix& matrix)
      : inputs_(inputs), device_(d), matrix_(matrix), voxels_(inputs.plan.groups(), no_voxel) {}

  std::string name() const override { return "track-groups"; }
  const image_grid& grid() const override { return inputs_.space.grid.in_file(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<output_spec> outputs() const override { return output_specs<group_outputs>(inputs_); }
  bool may_be_empty() const override { return true; }
  std::size_t device_bytes_per_item() const override { return output_bytes_per_item<group_outputs>(inputs_); }
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override;
  std::uint64_t parts_of_item(std::uint64_t) const override { return inputs_.plan.per_group; }
  std::unique_ptr<batch_runner> make_probe(std::uint64_t streamlines) const override;

 private:
  const track_inputs& inputs_;
  device device_;
  drawn_matrix matrix_;
  std::vector<std::uint64_t> voxels_;
};

/// The same for --tracts.
struct tract_group_outputs {
  using inputs = track_inputs;
  static constexpr step_output<inputs> table[] = {
      {"density",
       element_type::uint32,
       0,
       "1",
       "accepted streamlines that visit each place",
       {.shape = group_outputs::places}},
      {"accepted", element_type::uint64, 1, "1", "accepted streamlines"},
      {"walked", element_type::uint64, 1, "1", "steps of all streamlines"},
      {"length",
       element_type::uint64,
       0,
       "steps",
       "sum of the lengths from the seed",
       {.shape = group_outputs::places, .when = group_outputs::has_lengths}},
  };
};

/// The step that draws the streamlines of all tracts: items are groups of them.
class tract_groups final : public analysis, public divisible_items {
 public:
  tract_groups(const tract_inputs& inputs, const device& d)
      : inputs_(inputs), device_(d), voxels_(inputs.groups(), no_voxel) {}

  std::string name() const override { return "tract-groups"; }
  const image_grid& grid() const override { return inputs_.field.space.grid.in_file(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<output_spec> outputs() const override { return output_specs<tract_group_outputs>(inputs_.field); }
  std::size_t device_bytes_per_item() const override {
    return output_bytes_per_item<tract_group_outputs>(inputs_.field);
  }
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override { return 16; }
  std::uint64_t parts_of_item(std::uint64_t group) const override { return inputs_.run_with(group).plan.per_group; }
  std::unique_ptr<batch_runner> make_probe(std::uint64_t streamlines) const override;

 private:
  const tract_inputs& inputs_;
  device device_;
  std::vector<std::uint64_t> voxels_;
};

}  // namespace voxherd
