#pragma once

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "core/step_outputs.hpp"
#include "mpi/run/estimate.hpp"
#include "src/analyses/track/draw_tracker.hpp"
#include "src/analyses/track/pair_matrix.hpp"
#include "src/analyses/track/sums.hpp"

namespace voxherd {

/// A matrix whose rows or pairs are drawn together with the groups, and kept: at most one of the two.
struct drawn_matrix {
  const seed_matrix* rows = nullptr;
  const pair_matrix* pairs = nullptr;
};

/// The first matrix that counts the same streamlines as the densities and has room for a group's rows, if there is one.
drawn_matrix choose_drawn_matrix(const std::vector<seed_matrix>& matrices, const std::vector<pair_matrix>& pairs,
                                 const track_inputs& in, const device& d);

/// The step that draws the streamlines: items are groups of them, with one row of each counted array. The result is
/// their sum over all groups, which does not depend on who drew which group.
class streamline_groups final : public analysis {
 public:
  streamline_groups(const track_inputs& inputs, const device& d, const drawn_matrix& matrix)
      : inputs_(inputs), device_(d), matrix_(matrix), voxels_(inputs.groups(), no_voxel) {}

  std::string name() const override { return inputs_.has_tracts() ? "tract-groups" : "track-groups"; }
  const image_grid& grid() const override { return inputs_.space.grid.in_file(); }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::vector<output_spec> outputs() const override;
  bool may_be_empty() const override { return true; }
  std::size_t device_bytes_per_item() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
  std::uint64_t max_items_per_batch() const override;
  std::uint64_t parts_of_item(std::uint64_t group) const override;
  std::unique_ptr<batch_runner> make_probe(std::uint64_t streamlines) const override;

 private:
  const track_inputs& inputs_;
  device device_;
  drawn_matrix matrix_;
  std::vector<std::uint64_t> voxels_;
};

/// Adds up the groups whose batches this rank receives, in any order.
class group_collector {
 public:
  explicit group_collector(const track_inputs& in) : arrays_(list_counted_arrays(in)), sums_(in) {}
  /// A batch of streamline_groups.
  void add(const batch& groups, std::span<const std::span<const std::byte>> outputs);
  track_sums& sums() { return sums_; }

 private:
  std::vector<std::size_t> arrays_;
  track_sums sums_;
};

}  // namespace voxherd
