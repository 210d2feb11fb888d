#include "src/scan/fsl_grid.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/io/nifti/companion.hpp"

namespace voxherd {

namespace {

/// Null if the result does not have it.
nlohmann::json find_geometry(const result_reader& result) {
  const nlohmann::json::json_pointer image("/inputs/image");
  return result.provenance().contains(image) ? result.provenance().at(image) : nlohmann::json();
}

}  // namespace

fsl_grid::fsl_grid(const result_reader& result) : fsl_grid(result.grid(), find_geometry(result)) {}

fsl_grid::fsl_grid(const image_grid& in_file, const nlohmann::json& geometry)
    : image_grid(in_file), file_(in_file), turned_(is_right_handed(in_file) && has_orientation(geometry)) {
  if (!turned_) return;
  for (std::size_t row = 0; row < 3; ++row) {
    double& axis = voxel_to_world[4 * row];
    voxel_to_world[4 * row + 3] += axis * static_cast<double>(size[0] - 1);
    axis = -axis;
  }
}

std::uint64_t fsl_grid::turned(std::uint64_t voxel) const {
  if (!turned_) return voxel;
  const std::uint64_t x = voxel % size[0];
  return voxel - x + (size[0] - 1 - x);
}

std::vector<std::uint64_t> fsl_grid::turned(std::vector<std::uint64_t> voxels) const {
  for (std::uint64_t& v : voxels) v = turned(v);
  return voxels;
}

void turn_rows(const fsl_grid& grid, std::vector<std::int32_t>& values) {
  if (!grid.is_turned()) return;
  const auto row = static_cast<std::ptrdiff_t>(grid.size[0]);
  for (auto begin = values.begin(); begin != values.end(); begin += row) std::reverse(begin, begin + row);
}

label_image read_labels(const std::string& path, const fsl_grid& grid, label_kind kind, const std::string& reference,
                        mask_rules rules) {
  label_image image = read_labels(path, grid.in_file(), kind, reference, rules);
  turn_rows(grid, image.label);
  return image;
}

}  // namespace voxherd
