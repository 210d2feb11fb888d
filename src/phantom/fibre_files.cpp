#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>

#include "mpi/failure.hpp"
#include "mpi/result_reader.hpp"
#include "src/input/nifti.hpp"
#include "src/phantom/score.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> image_named(const std::string& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const char* ending : {".nii.gz", ".nii"})
      if (const std::string path = folder + "/" + name + ending; fs::exists(path)) return path;
  return std::nullopt;
}

/// Voxels x volumes, volume fastest.
std::vector<float> read_image(const std::string& path, std::uint64_t volumes, std::array<std::uint64_t, 3>& size) {
  nifti_reader reader(read_nifti_header(path));
  const nifti_header& h = reader.header();
  if (h.volumes != volumes)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: field dim[4]: found {} volumes, expected {}", path, h.volumes, volumes));
  if (size[0] != 0 && h.grid.size != size)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: field dim: found {} x {} x {}, expected {} x {} x {} as in the maps beside it", path,
                              h.grid.size[0], h.grid.size[1], h.grid.size[2], size[0], size[1], size[2]));
  size = h.grid.size;
  const std::uint64_t voxels = h.grid.voxel_count();
  std::vector<float> values(voxels * volumes), volume(voxels);
  for (std::uint64_t k = 0; k < volumes; ++k) {
    reader.read(k, 0, voxels, volume.data());
    for (std::uint64_t v = 0; v < voxels; ++v) values[v * volumes + k] = volume[v];
  }
  return values;
}

fibre_field read_folder(const std::string& folder) {
  fibre_field field;
  for (int j = 1;; ++j) {
    const auto directions = image_named(folder, {fmt::format("dyads{}", j)});
    const auto fractions =
        image_named(folder, {fmt::format("f{}", j), fmt::format("mean_f{}samples", j), fmt::format("mean_f{}", j)});
    if (!directions || !fractions) break;
    field.direction.push_back(read_image(*directions, 3, field.size));
    field.fraction.push_back(read_image(*fractions, 1, field.size));
  }
  if (field.direction.empty())
    throw failure(
        exit_status::missing_input,
        fmt::format("{}: no fibre maps found, expected dyads1.nii.gz and f1.nii.gz (or mean_f1samples.nii.gz)",
                    folder));
  return field;
}

void use_every_voxel(fibre_field& field) {
  field.voxels.resize(field.size[0] * field.size[1] * field.size[2]);
  std::iota(field.voxels.begin(), field.voxels.end(), std::uint64_t{0});
}

}  // namespace

fibre_field read_truth(const std::string& folder) {
  const std::string truth = fs::is_directory(folder + "/truth") ? folder + "/truth" : folder;
  if (!fs::is_directory(truth))
    throw failure(exit_status::missing_input,
                  fmt::format("{}: not a folder, expected one that voxherd phantom dwi wrote", folder));
  fibre_field field = read_folder(truth);
  const auto S0 = image_named(truth, {"S0"});
  if (!S0) throw failure(exit_status::missing_input, fmt::format("{}/S0.nii.gz: not found", truth));
  const auto signal = read_image(*S0, 1, field.size);
  for (std::uint64_t v = 0; v < signal.size(); ++v)
    if (signal[v] > 0) field.voxels.push_back(v);
  return field;
}

fibre_field read_estimate(const std::string& path) {
  if (fs::is_directory(path)) {
    fibre_field field = read_folder(path);
    use_every_voxel(field);
    return field;
  }
  const result_reader result(path);
  fibre_field field;
  field.size = result.grid().size;
  field.voxels = result.item_voxels();
  for (int j = 1; result.has(fmt::format("dyads{}", j)) && result.has(fmt::format("mean_f{}", j)); ++j) {
    field.direction.push_back(result.read_map(fmt::format("dyads{}", j)));
    field.fraction.push_back(result.read_map(fmt::format("mean_f{}", j)));
  }
  if (field.direction.empty() && result.has("V1")) field.direction.push_back(result.read_map("V1"));
  if (field.direction.empty())
    throw failure(exit_status::bad_data,
                  fmt::format("{}: found a result of {}, expected one of ballstick (dyads1, mean_f1) or tensor (V1)",
                              path, result.analysis_name()));
  return field;
}

}  // namespace voxherd
