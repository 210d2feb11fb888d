#include "src/export/matrix_places.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/failure.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace {

const std::vector<double>& matrix_values(const result_reader& result, const std::string& name) {
  for (const constant& c : result.constants())
    if (c.group == "matrix" && c.name == name) return c.values;
  refuse_data(
      fmt::format("{}: has no /matrix/{}, expected a complete matrix of track (--matrix1, --matrix2 or --matrix3)",
                  printable(result.path()), name));
}

/// The files of an option, as the run has noted them: "seed-image", or "seed-image 1", "seed-image 2", ...
std::vector<place_file> list_files(const result_reader& result, const std::string& option) {
  std::vector<place_file> files;
  const nlohmann::json& inputs = result.provenance().at("inputs");
  const auto add = [&](const std::string& key) {
    if (!inputs.contains(key)) return false;
    files.push_back({inputs.at(key).value("path", ""), describe_change(inputs.at(key)), "", 0});
    return true;
  };
  if (add(option)) return files;
  while (add(fmt::format("{} {}", option, files.size() + 1))) {
  }
  return files;
}

/// Without a note of each voxel's file: the last mask that it is in.
void find_mask_files(matrix_places& places) {
  for (std::uint32_t f = 0; f < places.files.size(); ++f) {
    if (!places.files[f].changed.empty()) continue;
    const nifti_header header = read_nifti_header(places.files[f].path);
    const std::vector<float> mask = read_volume(header);
    if (header.grid.size != places.grid.size) continue;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (mask[places.place[i]] != 0) places.file[i] = f;
  }
}

/// Places that are all voxels of masks.
matrix_places make_voxel_places(const result_reader& result, const char* option, const image_grid& grid,
                                std::vector<std::uint64_t> voxels) {
  matrix_places places;
  places.files = list_files(result, option);
  if (places.files.empty()) places.files.push_back({option, "it is not among the inputs of the result", "", 0});
  places.grid = grid;
  places.place = std::move(voxels);
  places.file.assign(places.place.size(), 0);
  if (places.files.size() > 1) find_mask_files(places);
  return places;
}

}  // namespace

int fsl_matrix_number(const result_reader& result) {
  const int number = static_cast<int>(matrix_values(result, "number").front());
  if (!result.has("column") || !result.has("count") || !result.complete())
    refuse_data(fmt::format("{}: expected a complete matrix of track", printable(result.path())));
  return number;
}

matrix_places read_row_places(const result_reader& result) {
  return make_voxel_places(result, fsl_matrix_number(result) == 3 ? "target3" : "seed-image", result.grid(),
                           result.item_voxels());
}

matrix_places read_column_places(const result_reader& result) {
  const int number = fsl_matrix_number(result);
  image_grid grid;
  const std::vector<double>& size = matrix_values(result, "column_image_size");
  const std::vector<double>& affine = matrix_values(result, "column_voxel_to_world");
  const std::vector<double>& columns = matrix_values(result, "column_voxel");
  std::transform(size.begin(), size.end(), grid.size.begin(), [](double n) { return static_cast<std::uint64_t>(n); });
  std::copy(affine.begin(), affine.end(), grid.voxel_to_world.begin());
  const bool has_own = result.provenance().at("inputs").contains("target3-columns");
  return make_voxel_places(result,
                           number == 1   ? "seed-image"
                           : number == 2 ? "target2"
                           : has_own     ? "target3-columns"
                                         : "target3",
                           grid, {columns.begin(), columns.end()});
}

bool operator==(const matrix_places& a, const matrix_places& b) {
  return a.grid.size == b.grid.size && a.grid.voxel_to_world == b.grid.voxel_to_world && a.file == b.file &&
         a.place == b.place;
}

}  // namespace voxherd
