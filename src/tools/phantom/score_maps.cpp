#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/failure.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/tools/phantom/map_files.hpp"
#include "src/tools/phantom/score.hpp"

namespace voxherd {

namespace {

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
        fmt::format("{}: contains no fibre maps, expected dyads1.nii.gz and f1.nii.gz (or mean_f1samples.nii.gz)",
                    folder));
  return field;
}

void use_every_voxel(fibre_field& field) {
  field.voxels.resize(field.size[0] * field.size[1] * field.size[2]);
  std::iota(field.voxels.begin(), field.voxels.end(), std::uint64_t{0});
}

}  // namespace

fibre_field read_truth(const std::string& folder) {
  const std::string truth = truth_folder(folder);
  fibre_field field = read_folder(truth);
  const auto S0 = image_named(truth, {"S0"});
  if (!S0) throw failure(exit_status::missing_input, fmt::format("{}/S0.nii.gz: not found", truth));
  const auto signal = read_image(*S0, 1, field.size);
  for (std::uint64_t v = 0; v < signal.size(); ++v)
    if (signal[v] > 0) field.voxels.push_back(v);
  return field;
}

fibre_field read_estimate(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
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
                  fmt::format("{}: is a result of {}, expected one of ballstick (dyads1, mean_f1) or tensor (V1)", path,
                              result.analysis_name()));
  return field;
}

}  // namespace voxherd
