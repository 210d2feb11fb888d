#pragma once

#include "src/analyses/track/matrix.hpp"

namespace voxherd {

/// FSL's matrix 3: pairs of voxels that streamlines connect, of one mask or of two.
struct pair_matrix {
  seed_matrix rows;     ///< the mask of the rows, and of the columns unless they have their own
  seed_matrix columns;  ///< the other mask; without voxels if there is none

  bool has_own_columns() const { return !columns.voxels.empty(); }
  const seed_matrix& column_mask() const { return has_own_columns() ? columns : rows; }
};

/// Items are groups of streamlines, as in streamline_groups; their results are lists of pairs.
class pair_items : public analysis {
 public:
  pair_items(const pair_matrix& matrix, const track_inputs& in, const device& d);

  const image_grid& grid() const override { return in_.space.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return first_voxels_; }
  std::size_t device_bytes_per_item() const override { return std::size_t{1} << 28; }
  std::uint64_t max_items_per_batch() const override { return 1; }

 protected:
  std::unique_ptr<track::tracker> make_pair_tracker() const;

 private:
  const pair_matrix& matrix_;
  const track_inputs& in_;
  device device_;
  std::vector<std::uint64_t> first_voxels_;
};

/// How many pairs each group has.
class pair_sizes final : public pair_items {
 public:
  using pair_items::pair_items;
  std::string name() const override { return "track-pair-sizes"; }
  std::vector<output_spec> outputs() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
};

/// The pairs of each group, in the order of their keys.
class pair_lists final : public pair_items {
 public:
  pair_lists(const pair_matrix& matrix, const track_inputs& in, const device& d, std::vector<std::uint64_t> offsets)
      : pair_items(matrix, in, d), offsets_(std::move(offsets)) {}
  std::string name() const override { return "track-pairs"; }
  std::vector<output_spec> outputs() const override;
  std::vector<std::uint64_t> point_offsets() const override { return offsets_; }
  std::unique_ptr<batch_runner> make_runner() const override;

 private:
  std::vector<std::uint64_t> offsets_;
};

/// The sums over all groups of a file of pair_lists, for rows [0, rows), in the order of their keys.
std::vector<track::pair_entry> add_pair_lists(const result_reader& lists, std::size_t rows, int threads);

}  // namespace voxherd
