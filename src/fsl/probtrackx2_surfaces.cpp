#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>

#include "core/failure.hpp"
#include "src/export/dot_folder.hpp"
#include "src/fsl/probtrackx2.hpp"
#include "src/io/input_file.hpp"
#include "src/io/surfaces/surfaces.hpp"

namespace voxherd {

namespace {

/// A surface with a value per vertex in FreeSurfer's text format, with FSL's digits.
std::string surface_text(const surface& mesh, const std::vector<double>& values) {
  std::string text = fmt::format("#!ascii from CsvMesh\n{} {}\n", mesh.points_mm.size(), mesh.triangles.size());
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < values.size(); ++i)
    fmt::format_to(out, "{:.6g} {:.6g} {:.6g} {:.6g}\n", mesh.points_mm[i][0], mesh.points_mm[i][1],
                   mesh.points_mm[i][2], values[i]);
  for (const auto& t : mesh.triangles) fmt::format_to(out, "{} {} {} 0\n", t[0], t[1], t[2]);
  return text;
}

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// An image on the voxels of one file of the seeds.
export_image part_of(export_image image, const std::vector<std::uint64_t>& voxels) {
  image.make = [all = image.make, voxels](const image_source& r, const volume_sink& sink) {
    all(r, [&](std::span<const float> values) {
      std::vector<float> part(values.size());
      for (const std::uint64_t v : voxels) part[v] = values[v];
      sink(part);
    });
  };
  return image;
}

/// The targets of the voxels of one file of the seeds.
void add_volume_targets(const result_volumes& result, const probtrackx2_outputs& wanted, const seed_file& file,
                        const std::string& prefix, export_plan& plan) {
  for (const std::string& name : wanted.targets) {
    plan.images.push_back(
        part_of(target_image(result, name, prefix + name + ".nii.gz", wanted.distance_corrected), file.voxels));
    if (!wanted.lengths) continue;
    const std::string lengths = name + "_lengths";
    plan.images.push_back(part_of(map_image(result, "seeds_to_" + lengths, prefix + lengths + ".nii.gz"), file.voxels));
  }
}

}  // namespace

seed_rows::seed_rows(const result_reader& result, std::size_t targets, bool distance_corrected) {
  constexpr std::uint64_t max_number = std::uint64_t{1} << 32;
  const constant* rois = result.find_constant("seeds", "roi");
  const std::size_t seeds = rois == nullptr ? 0 : rois->values.size();
  if (seeds == 0) return;
  roi = result.constant_indices("seeds", "roi", seeds, max_number);
  place = result.constant_indices("seeds", "place", seeds, max_number);
  if (targets == 0) return;
  hits = result.constant_values("seeds", "hits", seeds * targets);
  if (distance_corrected || result.find_constant("seeds", "mean_length_mm") != nullptr)
    mean_length_mm = result.constant_values("seeds", "mean_length_mm", seeds * targets);
}

double seed_rows::value(std::size_t row, std::size_t target, std::size_t targets, bool distance_corrected) const {
  const std::size_t i = row * targets + target;
  return hits[i] * (distance_corrected ? mean_length_mm[i] : 1);
}

namespace {

void check_vertex(const std::string& result, std::uint64_t vertex, const std::string& surface, std::size_t vertices) {
  if (vertex >= vertices)
    refuse_data("{}: names vertex {} of {}, which has {} vertices; has the surface changed since the run?", result,
                vertex, surface, vertices);
}

}  // namespace

void write_surface_counts(const std::string& matrix, const std::vector<std::string>& surfaces, const std::string& name,
                          bool distance_corrected) {
  const result_reader result(matrix);
  const sparse_matrix m(result);
  if (result.find_constant("matrix", "column_roi") == nullptr)
    refuse_data("{}: its columns are not vertices of surfaces", matrix);
  if (distance_corrected && m.length_sum.size() != m.count.size())
    refuse_data("{}: has no lengths; repeat the command", matrix);
  constexpr std::uint64_t max_number = std::uint64_t{1} << 32;
  const std::size_t columns = m.column_voxel.size();
  const auto roi = result.constant_indices("matrix", "column_roi", columns, max_number),
             place = result.constant_indices("matrix", "column_place", columns, max_number);
  for (std::size_t f = 0; f < surfaces.size(); ++f) {
    surface mesh = read_surface(surfaces[f]);
    std::vector<double> sums(mesh.points_mm.size());
    for (std::size_t c = 0; c < columns; ++c)
      if (roi[c] == f) check_vertex(matrix, place[c], surfaces[f], sums.size());
    for (std::size_t i = 0; i < m.column.size(); ++i)
      if (roi[m.column[i]] == f)
        sums[place[m.column[i]]] += distance_corrected ? m.length_sum[i] : static_cast<double>(m.count[i]);
    mesh.values.assign(sums.begin(), sums.end());
    write_surface(fmt::format("{}{}.gii", name, surfaces.size() == 1 ? "" : std::to_string(f + 1)), mesh);
  }
}

void add_surface_targets(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan) {
  const std::size_t targets = wanted.targets.size();
  const seed_rows rows(result.result(), targets, wanted.distance_corrected);
  for (std::size_t f = 0; f < wanted.seed_files.size(); ++f) {
    const auto& file = wanted.seed_files[f];
    const std::string prefix = wanted.seed_files.size() == 1 ? "seeds_to_" : fmt::format("seeds_{}_to_", f);
    if (!file.is_surface) {
      add_volume_targets(result, wanted, file, prefix, plan);
      continue;
    }
    const surface mesh = read_surface(file.path);
    for (std::size_t t = 0; t < targets; ++t) {
      std::vector<double> values(mesh.points_mm.size());
      for (std::size_t i = 0; i < rows.roi.size(); ++i) {
        if (rows.roi[i] != f) continue;
        check_vertex(result.result().path(), rows.place[i], file.path, values.size());
        values[rows.place[i]] = rows.value(i, t, targets, wanted.distance_corrected);
      }
      plan.texts.push_back({prefix + base_name(wanted.target_files[t]) + ".asc", surface_text(mesh, values)});
    }
  }
}

}  // namespace voxherd
