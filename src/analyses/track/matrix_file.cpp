#include "src/analyses/track/matrix.hpp"

namespace voxherd {

std::vector<output_spec> matrix_outputs(element_type count, bool lengths) {
  std::vector<output_spec> all = {
      {"column", element_type::uint32, {}, output_layout::points, "1", "column of the entry, from 0; see /matrix"},
      {"count", count, {}, output_layout::points, "1", "streamlines that connect row and column"}};
  if (lengths)
    all.push_back({"length_sum",
                   element_type::float64,
                   {},
                   output_layout::points,
                   "mm",
                   "sum of the lengths of the paths between them"});
  return all;
}

std::vector<constant> matrix_constants(const seed_matrix& matrix) {
  const auto make = [](const char* name, std::vector<std::uint64_t> shape, std::vector<double> values, const char* unit,
                       const char* meaning) {
    return constant{name, std::move(shape), std::move(values), unit, meaning, "matrix"};
  };
  const auto size = [](std::uint64_t n) { return static_cast<double>(n); };
  const auto& n = matrix.grid.size;
  const auto& affine = matrix.grid.voxel_to_world;
  std::vector<double> voxels;
  for (const std::uint64_t v : matrix.voxels) voxels.push_back(size(v));
  return {make("number", {1}, {static_cast<double>(matrix.number)}, "1", "FSL's number of the matrix"),
          make("column_voxel", {voxels.size()}, voxels, "1", "linear index of each column's voxel in its image"),
          make("column_image_size", {3}, {size(n[0]), size(n[1]), size(n[2])}, "1", "voxels of this image"),
          make("column_voxel_to_world", {4, 4}, {affine.begin(), affine.end()}, "mm", "matrix of this image")};
}

}  // namespace voxherd
