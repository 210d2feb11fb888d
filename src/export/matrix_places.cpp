#include "src/export/matrix_places.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"
#include "core/step_outputs.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/nifti/companion.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace {

/// The option of the seeds: --connectome only without --seed-image.
std::string seed_option(const result_reader& result) {
  const nlohmann::json& inputs = result.provenance().at("inputs");
  const bool has_other_seeds = inputs.contains("seed-image") || inputs.contains("seed-image 1");
  const bool has_regions = inputs.contains("connectome") || inputs.contains("connectome 1");
  return has_regions && !has_other_seeds ? "connectome" : "seed-image";
}

}  // namespace

/// As the run has noted them: "seed-image", or "seed-image 1", "seed-image 2", ..., or one note for all.
std::vector<place_file> read_mask_files(const result_reader& result, const std::string& option) {
  std::vector<place_file> files;
  const nlohmann::json& inputs = result.provenance().at("inputs");
  const auto add = [&](const std::string& key) {
    if (!inputs.contains(key)) return false;
    for (const std::string& path : list_input_files(inputs.at(key)))
      files.push_back({path, describe_change(inputs.at(key)), "", 0});
    return true;
  };
  if (!add(option))
    while (add(fmt::format("{} {}", option, files.size() + 1))) {
    }
  const std::string surfaces = option == seed_option(result) ? "seed_surfaces" : option + "_surfaces";
  const nlohmann::json& configuration = result.configuration();
  if (!configuration.contains(surfaces)) return files;
  const nlohmann::json& list = configuration.at(surfaces);
  files.resize(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    files[i].vertices = list[i].value("vertices", std::uint64_t{0});
    files[i].structure = list[i].value("structure", "");
  }
  return files;
}

namespace {

/// Without a note of each voxel's file: the last mask that it is in.
void find_mask_files(matrix_places& places) {
  for (std::uint32_t f = 0; f < places.files.size(); ++f) {
    if (!places.files[f].changed.empty()) continue;
    nifti_header header = read_nifti_header(places.files[f].path);
    if (!bring_from_same_place(header, places.grid, nlohmann::json())) continue;
    const std::vector<float> mask = read_volume(header);
    for (std::size_t i = 0; i < places.size(); ++i)
      if (mask[places.place[i]] != 0) places.file[i] = f;
  }
}

constexpr std::uint64_t max_places = std::uint64_t{1} << 53;  // exact as double

/// `side`: "row" or "column".
matrix_places make_places(const result_reader& result, const std::string& side, const std::string& option,
                          const image_grid& grid, std::vector<std::uint64_t> voxels) {
  matrix_places places;
  places.files = read_mask_files(result, option);
  if (places.files.empty())
    places.files.push_back({option, fmt::format("the inputs of the result do not name {}", option), "", 0});
  places.grid = grid;
  places.place = std::move(voxels);
  places.file.assign(places.place.size(), 0);
  const std::uint64_t count = places.size(), voxels_there = places.grid.voxel_count();
  const bool has_files = result.find_constant("matrix", side + "_roi") != nullptr;
  if (has_files) {
    const auto file = result.constant_indices("matrix", side + "_roi", count, places.files.size());
    const auto place = result.constant_indices("matrix", side + "_place", count, max_places);
    for (std::size_t i = 0; i < count; ++i) {
      places.file[i] = static_cast<std::uint32_t>(file[i]);
      if (places.files[file[i]].vertices > 0) places.place[i] = place[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t vertices = places.files[places.file[i]].vertices;
    if (places.place[i] >= (vertices > 0 ? vertices : voxels_there))
      refuse_data(
          "{}: {} {} of the matrix is at place {} of {}, which has {} {}; is it a complete copy of a voxherd result?",
          result.path(), side, i, places.place[i], places.files[places.file[i]].path,
          vertices > 0 ? vertices : voxels_there, vertices > 0 ? "vertices" : "voxels");
  }
  if (!has_files && places.files.size() > 1) find_mask_files(places);
  return places;
}

}  // namespace

int fsl_matrix_number(const result_reader& result) {
  if (result.find_constant("matrix", "number") == nullptr || !result.has("column") || !result.has("count") ||
      !result.complete())
    refuse_data("{}: expected a complete matrix of track (--matrix1 to --matrix4)", result.path());
  constexpr std::uint64_t last = 4;
  const std::uint64_t number = result.constant_indices("matrix", "number", 1, last + 1).front();
  if (number == 0) refuse_data("{}: /matrix/number is 0, expected 1 to {}", result.path(), last);
  return static_cast<int>(number);
}

image_grid read_column_grid(const result_reader& result) {
  constexpr std::uint64_t max_side = std::uint64_t{1} << 31;
  constexpr double max_voxels = 1ULL << 32;  // of an array with one number each
  image_grid grid;
  const auto size = result.constant_indices("matrix", "column_image_size", 3, max_side);
  const std::vector<double>& affine = result.constant_values("matrix", "column_voxel_to_world", 16);
  std::copy(size.begin(), size.end(), grid.size.begin());
  std::copy(affine.begin(), affine.end(), grid.voxel_to_world.begin());
  double voxels = 1;
  for (const std::uint64_t n : size) voxels *= static_cast<double>(n);
  if (voxels == 0 || voxels > max_voxels ||
      !std::all_of(affine.begin(), affine.end(), [](double x) { return std::isfinite(x); }))
    refuse_data(
        "{}: /matrix/column_image_size is {} x {} x {}, and with its matrix this is not an image; is it a complete "
        "copy of a voxherd result?",
        result.path(), size[0], size[1], size[2]);
  for (std::size_t axis = 0; axis < 3; ++axis)
    grid.voxel_size_mm[axis] = std::hypot(affine[axis], affine[4 + axis], affine[8 + axis]);
  return grid;
}

std::vector<std::uint64_t> read_column_voxels(const result_reader& result) {
  const constant* voxels = result.find_constant("matrix", "column_voxel");
  return result.constant_indices("matrix", "column_voxel", voxels == nullptr ? 0 : voxels->values.size(),
                                 read_column_grid(result).voxel_count(), index_gaps::negative_is_none);
}

bool has_seed_rows(const result_reader& result) {
  return fsl_matrix_number(result) != 3 && !result.provenance().at("inputs").contains("matrix4-rows");
}

std::vector<place_file> read_seed_files(const result_reader& result) {
  return read_mask_files(result, seed_option(result));
}

matrix_places read_row_places(const result_reader& result) {
  const std::string own = fsl_matrix_number(result) == 3 ? "target3" : "matrix4-rows";
  return make_places(result, "row", has_seed_rows(result) ? seed_option(result) : own, result.grid(),
                     result.item_voxels());
}

matrix_places read_column_places(const result_reader& result) {
  const int number = fsl_matrix_number(result);
  const char* targets = result.provenance().at("inputs").contains("target3-columns") ? "target3-columns" : "target3";
  return make_places(result, "column",
                     number == 1   ? seed_option(result)
                     : number == 2 ? "target2"
                     : number == 4 ? "target4"
                                   : targets,
                     read_column_grid(result), read_column_voxels(result));
}

bool operator==(const matrix_places& a, const matrix_places& b) {
  return a.grid.size == b.grid.size && a.grid.voxel_to_world == b.grid.voxel_to_world && a.file == b.file &&
         a.place == b.place;
}

}  // namespace voxherd
