#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "core/failure.hpp"
#include "kernels/perfusion/settings.hpp"
#include "mpi/result/result_reader.hpp"
#include "src/tools/phantom/map_files.hpp"
#include "src/tools/phantom/perfusion_score.hpp"

namespace voxherd {

namespace {

std::string name_at(std::size_t q) { return quantity_name(static_cast<perfusion_quantity>(q)); }

/// Computes quantities for which there is no map from the parameters.
void derive(perfusion_field& field) {
  const auto map = [&](perfusion_quantity q) -> std::vector<float>& {
    return field.value[static_cast<std::size_t>(q)];
  };
  const auto fill = [&](perfusion_quantity q, auto value) {
    auto& values = map(q);
    if (!values.empty()) return;
    values.resize(map(perfusion_quantity::kl).size());
    for (std::size_t v = 0; v < values.size(); ++v) {
      const double ka = map(perfusion_quantity::ka)[v], kp = map(perfusion_quantity::kp)[v],
                   kl = map(perfusion_quantity::kl)[v];
      if (kl > 0) values[v] = static_cast<float>(value(ka, kp, kl));
    }
  };
  fill(perfusion_quantity::arterial_fraction,
       [](double ka, double kp, double) { return ka + kp > 0 ? ka / (ka + kp) : 0; });
  fill(perfusion_quantity::distribution_volume, [](double ka, double kp, double kl) { return (ka + kp) / kl; });
  fill(perfusion_quantity::mean_transit_time, [](double, double, double kl) { return perfusion::per_second / kl; });
}

perfusion_field read_folder(const std::string& folder) {
  perfusion_field field;
  for (std::size_t q = 0; q < perfusion_quantity_count; ++q) {
    const auto path = image_named(folder, {name_at(q)});
    if (path) field.value[q] = read_image(*path, 1, field.size);
    if (!path && q < fitted_quantity_count)
      throw failure(exit_status::missing_input,
                    fmt::format("{}: contains no map {}, expected {}.nii.gz or .nii", folder, name_at(q), name_at(q)));
    if (q >= fitted_quantity_count) continue;
    if (const auto sd = image_named(folder, {"sd_" + name_at(q)})) field.deviation[q] = read_image(*sd, 1, field.size);
  }
  if (const auto path = image_named(folder, {"at_bound"})) field.at_bound = read_image(*path, 1, field.size);
  derive(field);
  return field;
}

/// Reads one label and name per line, separated by a tab; labels without a name get their number.
std::vector<std::string> region_names(const std::string& path, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("region {}", i));
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto tab = line.find('\t');
    const auto label = std::strtoull(line.c_str(), nullptr, 10);
    if (tab != std::string::npos && label >= 1 && label <= count) names[label - 1] = line.substr(tab + 1);
  }
  return names;
}

}  // namespace

bool is_perfusion_truth(const std::string& folder) { return image_named(truth_folder(folder), {"kl"}).has_value(); }

perfusion_field read_perfusion_truth(const std::string& folder) {
  const std::string truth = truth_folder(folder);
  perfusion_field field = read_folder(truth);
  const auto regions = image_named(truth, {"regions"});
  if (!regions) throw failure(exit_status::missing_input, fmt::format("{}/regions.nii.gz: not found", truth));
  field.region = read_image(*regions, 1, field.size);
  std::size_t largest = 0;
  for (std::uint64_t v = 0; v < field.region.size(); ++v) {
    const float label = field.region[v];
    if (!(label >= 0 && label < 256 && label == static_cast<float>(static_cast<int>(label))))
      throw failure(exit_status::bad_data,
                    fmt::format("{}: found {}, expected integers from 0 to 255", *regions, label));
    if (label < 1) continue;
    field.voxels.push_back(v);
    largest = std::max(largest, static_cast<std::size_t>(label));
  }
  field.region_name = region_names(truth + "/regions.tsv", largest);
  return field;
}

perfusion_field read_perfusion_estimate(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    perfusion_field field = read_folder(path);
    const auto& kl = field.value[static_cast<std::size_t>(perfusion_quantity::kl)];
    for (std::uint64_t v = 0; v < kl.size(); ++v)
      if (kl[v] > 0) field.voxels.push_back(v);
    return field;
  }
  const result_reader result(path);
  if (result.analysis_name() != "perfusion")
    throw failure(exit_status::bad_data,
                  fmt::format("{}: is a result of {}, expected one of perfusion because the truth is a liver phantom",
                              path, result.analysis_name()));
  perfusion_field field;
  field.size = result.grid().size;
  for (std::size_t q = 0; q < perfusion_quantity_count; ++q) {
    if (result.has(name_at(q)) || q < fitted_quantity_count) field.value[q] = result.read_map(name_at(q));
    if (q < fitted_quantity_count && result.has("sd_" + name_at(q)))
      field.deviation[q] = result.read_map("sd_" + name_at(q));
  }
  if (result.has("at_bound")) field.at_bound = result.read_map("at_bound");
  derive(field);
  const std::vector<float> status = result.read_map("status");
  for (const std::uint64_t voxel : result.item_voxels())
    if (status[voxel] == 0) field.voxels.push_back(voxel);
  return field;
}

}  // namespace voxherd
