#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "src/export/cifti.hpp"
#include "src/export/connectome_text.hpp"
#include "src/export/matrix_places.hpp"
#include "src/io/cifti/cifti.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace {

void check_options(const export_settings& settings) {
  const cifti_request& r = settings.cifti;
  if (!r.parcels.empty() || !r.brain_models.empty() || !r.blueprint.empty() || !r.structures.empty() || r.symmetric ||
      r.transpose || r.log || r.divisor != matrix_divisor::none || r.quantity != matrix_quantity::count)
    refuse_usage(
        "{}: has matrices between regions, for which the only option of CIFTI is --matrix; leave the others out",
        settings.result);
  std::string name = settings.out;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (!name.ends_with(".pconn.nii"))
    refuse_usage("--out {}: expected a name that ends in .pconn.nii, or the same with .gz", settings.out);
}

const constant& find_matrix(const result_reader& result, const std::string& wanted) {
  std::vector<std::string> names;
  for (const constant& c : result.constants()) {
    if (c.group != "connectome" || !is_region_matrix(result, c)) continue;
    if (c.name == wanted || (wanted.empty() && names.empty())) return c;
    names.push_back(c.name);
  }
  refuse_usage("--matrix {}: {} has no such matrix, only: {}", wanted, result.path(), fmt::join(names, ", "));
}

/// The parcellation, or the masks of the regions.
std::vector<place_file> find_region_files(const result_reader& result) {
  std::vector<place_file> files;
  for (const char* option : {"connectome", "targets"})
    if (files.empty()) files = read_mask_files(result, option);
  if (files.empty()) refuse_data("{}: its inputs do not name the image of its regions", result.path());
  for (const place_file& file : files)
    if (file.vertices > 0)
      refuse_data("{}: is a surface; regions on surfaces are not written as parcels, use --to csv", file.path);
  for (const place_file& file : files)
    if (!file.changed.empty()) refuse_data("{}; the regions' voxels are read from it", file.changed);
  return files;
}

/// Parcels without voxels. Workbench finds parcels by their names: each of several equal ones gets its label, too.
parcel_list make_parcels_of_regions(const result_reader& result, const std::vector<std::int32_t>& labels) {
  parcel_list list;
  std::map<std::string, int> used;
  const region_name_list names = node_names(result);
  for (const std::string& name : names) ++used[name];
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = names[i];
    if (used.at(name) > 1) {
      do name += fmt::format("_{}", labels[i]);
      while (used[name]++ > 0);
    }
    list.parcels.push_back({std::move(name), {}});
  }
  return list;
}

void add_voxel(std::uint64_t voxel, brain_parcel& parcel) {
  if (parcel.parts.empty()) parcel.parts.push_back({"OTHER", 0, {}});
  parcel.parts.front().places.push_back(voxel);
}

/// `files`: a parcellation, whose values are the labels; or one mask per label, from 1.
parcel_list read_parcels(const result_reader& result, const std::vector<place_file>& files) {
  const std::vector<std::int32_t> labels = node_labels(result);
  parcel_list list = make_parcels_of_regions(result, labels);
  constexpr std::int32_t largest_exact = 1 << 24;
  if (files.size() == 1 && !labels.empty() && labels.back() > largest_exact)
    refuse_data("{}: has the label {}, expected at most {} for parcels; use --to csv", files.front().path,
                labels.back(), largest_exact);
  for (std::size_t f = 0; f < files.size(); ++f) {
    const nifti_header header = read_nifti_header(files[f].path);
    if (list.grid && (list.grid->size != header.grid.size || list.grid->voxel_to_world != header.grid.voxel_to_world))
      refuse_data("{}: is on another grid than {}; parcels have one", files[f].path, files.front().path);
    list.grid = header.grid;
    const std::vector<float> values = read_volume(header);
    for (std::uint64_t v = 0; v < values.size(); ++v) {
      if (!(std::abs(values[v]) > 0)) continue;
      const auto label = files.size() > 1 ? static_cast<std::int32_t>(f + 1)
                                          : static_cast<std::int32_t>(std::lround(static_cast<double>(values[v])));
      const auto found = std::lower_bound(labels.begin(), labels.end(), label);
      if (found != labels.end() && *found == label)
        add_voxel(v, list.parcels[static_cast<std::size_t>(found - labels.begin())]);
    }
  }
  return list;
}

}  // namespace

bool has_region_matrices(const result_reader& result) {
  return result.find_constant("connectome", "labels") != nullptr;
}

void write_region_matrix(const export_settings& settings, const result_reader& result) {
  check_options(settings);
  const constant& matrix = find_matrix(result, settings.cifti.matrix);
  const parcel_list parcels = read_parcels(result, find_region_files(result));
  const auto empty = std::count_if(parcels.parcels.begin(), parcels.parcels.end(),
                                   [](const brain_parcel& parcel) { return parcel.parts.empty(); });
  if (empty > 0) spdlog::warn("{}: {} of {} regions have no voxels", settings.out, empty, parcels.parcels.size());
  cifti_writer writer(settings.out, parcels, parcels);
  writer.append(std::vector<float>(matrix.values.begin(), matrix.values.end()));
  writer.finish();
  spdlog::info("{}: {} between {}", settings.out, matrix.name, counted(parcels.parcels.size(), "region"));
}

}  // namespace voxherd
