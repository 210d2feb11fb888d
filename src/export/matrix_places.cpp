#include "src/export/matrix_places.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/failure.hpp"
#include "core/step_outputs.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/companion.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace {

const std::vector<double>& matrix_values(const result_reader& result, const std::string& name) {
  if (const constant* found = result.find_constant("matrix", name)) return found->values;
  refuse_data(fmt::format("{}: has no /matrix/{}, expected a complete matrix of track (--matrix1 to --matrix4)",
                          printable(result.path()), name));
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
  const std::string surfaces =
      option == "seed-image" || option == "connectome" ? "seed_surfaces" : option + "_surfaces";
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
  const constant *roi = result.find_constant("matrix", side + "_roi"),
                 *vertex = result.find_constant("matrix", side + "_place");
  if (roi == nullptr || vertex == nullptr) {
    if (places.files.size() > 1) find_mask_files(places);
    return places;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    places.file[i] = static_cast<std::uint32_t>(roi->values[i]);
    if (places.file[i] >= places.files.size())
      refuse_data(fmt::format("{}: {} {} is of file {}, but only {} are listed", printable(result.path()), side, i,
                              places.file[i], places.files.size()));
    if (places.files[places.file[i]].vertices > 0) places.place[i] = static_cast<std::uint64_t>(vertex->values[i]);
  }
  return places;
}

/// What the seeds of a run are.
std::string seed_option(const result_reader& result) {
  const nlohmann::json& inputs = result.provenance().at("inputs");
  return inputs.contains("connectome") || inputs.contains("connectome 1") ? "connectome" : "seed-image";
}

}  // namespace

int fsl_matrix_number(const result_reader& result) {
  const int number = static_cast<int>(matrix_values(result, "number").front());
  if (!result.has("column") || !result.has("count") || !result.complete())
    refuse_data(fmt::format("{}: expected a complete matrix of track", printable(result.path())));
  return number;
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
  image_grid grid;
  const std::vector<double>& size = matrix_values(result, "column_image_size");
  const std::vector<double>& affine = matrix_values(result, "column_voxel_to_world");
  std::transform(size.begin(), size.end(), grid.size.begin(), [](double n) { return static_cast<std::uint64_t>(n); });
  std::copy(affine.begin(), affine.end(), grid.voxel_to_world.begin());
  for (std::size_t axis = 0; axis < 3; ++axis)
    grid.voxel_size_mm[axis] = std::hypot(affine[axis], affine[4 + axis], affine[8 + axis]);
  std::vector<std::uint64_t> voxels;
  for (const double v : matrix_values(result, "column_voxel"))
    voxels.push_back(v < 0 ? no_voxel : static_cast<std::uint64_t>(v));
  const char* targets = result.provenance().at("inputs").contains("target3-columns") ? "target3-columns" : "target3";
  return make_places(result, "column",
                     number == 1   ? seed_option(result)
                     : number == 2 ? "target2"
                     : number == 4 ? "target4"
                                   : targets,
                     grid, std::move(voxels));
}

bool operator==(const matrix_places& a, const matrix_places& b) {
  return a.grid.size == b.grid.size && a.grid.voxel_to_world == b.grid.voxel_to_world && a.file == b.file &&
         a.place == b.place;
}

}  // namespace voxherd
