#pragma once

#include "src/analyses/track/matrix.hpp"

namespace voxherd {

/// Items are seeds, the rows of the matrix; all streamlines of a seed are drawn at once.
class matrix_items : public analysis {
 public:
  matrix_items(const seed_matrix& matrix, const track_inputs& in, const device& d);

  const image_grid& grid() const override { return in_.space.grid; }
  const std::vector<std::uint64_t>& item_voxels() const override { return voxels_; }
  std::size_t device_bytes_per_item() const override;
  std::uint64_t max_items_per_batch() const override;

 protected:
  std::unique_ptr<track::tracker> make_row_tracker() const;

  const seed_matrix& matrix_;
  const track_inputs& in_;

 private:
  device device_;
  std::vector<std::uint64_t> voxels_;
};

/// How many entries each row has.
class matrix_sizes final : public matrix_items {
 public:
  using matrix_items::matrix_items;
  std::string name() const override { return "track-matrix-sizes"; }
  std::vector<output_spec> outputs() const override;
  std::unique_ptr<batch_runner> make_runner() const override;
};

/// The entries. The rows of the points (see analysis::point_offsets) are the matrix in compressed sparse rows.
class matrix_rows final : public matrix_items {
 public:
  matrix_rows(const seed_matrix& matrix, const track_inputs& in, const device& d, std::vector<std::uint64_t> offsets)
      : matrix_items(matrix, in, d), offsets_(std::move(offsets)) {}
  std::string name() const override { return "track-matrix"; }
  std::vector<output_spec> outputs() const override { return matrix_outputs(element_type::uint32, in_.lengths); }
  std::vector<constant> constants() const override { return matrix_constants(matrix_); }
  std::vector<std::uint64_t> point_offsets() const override { return offsets_; }
  std::unique_ptr<batch_runner> make_runner() const override;

 private:
  std::vector<std::uint64_t> offsets_;
};

}  // namespace voxherd
