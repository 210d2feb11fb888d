#include "src/analyses/track/result_surfaces.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/failure.hpp"
#include "src/export/matrix_places.hpp"
#include "src/export/matrix_stream.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/surface_space.hpp"

namespace voxherd {

namespace {

/// Options whose files may be surfaces, seeds first.
constexpr const char* mask_options[] = {"seed-image", "connectome",        "targets",      "target2",
                                        "target3",    "target3-columns",   "matrix4-rows", "include",
                                        "stop",       "walk-through-stop", "exclude"};

/// A copy of the surface in mm of the world, or why there is none.
shown_surface read_shown(const place_file& file, const result_reader& result) {
  shown_surface s;
  s.name = printable(std::filesystem::path(file.path).filename().string());
  s.why_not = file.changed;
  if (!s.why_not.empty()) return s;
  try {
    s.mesh = read_surface(file.path);
    move_to_world(s.mesh, find_mesh_space(result.configuration().value("mesh-space", "")), fsl_grid(result));
  } catch (const failure& f) {
    s.why_not = f.what();
  }
  return s;
}

class surface_list {
 public:
  explicit surface_list(const result_reader& result) {
    for (const char* option : mask_options)
      for (const place_file& file : read_mask_files(result, option)) {
        const bool is_known = file.path.empty() || find(file.path) != nullptr;  // "": seeds of the other option
        if (is_known || (file.vertices == 0 && !is_surface_mask(file.path))) continue;
        paths_.push_back(file.path);
        all_.push_back(read_shown(file, result));
      }
  }

  shown_surface* find(const std::string& path) {
    const auto known = std::find(paths_.begin(), paths_.end(), path);
    return known == paths_.end() ? nullptr : &all_[static_cast<std::size_t>(known - paths_.begin())];
  }
  std::vector<shown_surface>& all() { return all_; }

 private:
  std::vector<std::string> paths_;
  std::vector<shown_surface> all_;
};

/// Sets a value of one vertex; the first one of a surface makes the map.
void set_value(shown_surface& s, const vertex_map& what, std::uint64_t vertex, double value) {
  if (vertex >= s.mesh.points_mm.size()) return;
  if (s.maps.empty() || s.maps.back().name != what.name) {
    s.maps.push_back(what);
    s.maps.back().values.assign(s.mesh.points_mm.size(), std::nanf(""));
  }
  s.maps.back().values[vertex] = static_cast<float>(value);
}

/// Names of --targets, as their maps have them.
std::vector<std::string> list_targets(const result_reader& result) {
  constexpr std::string_view prefix = "seeds_to_", lengths = "_lengths";
  std::vector<std::string> names;
  for (const output_spec& o : result.outputs())
    if (o.name.starts_with(prefix) && !o.name.ends_with(lengths)) names.push_back(o.name.substr(prefix.size()));
  return names;
}

void add_seed_maps(const result_reader& result, surface_list& surfaces) {
  const constant *roi = result.find_constant("seeds", "roi"), *place = result.find_constant("seeds", "place");
  if (roi == nullptr || place == nullptr) return;
  std::vector<shown_surface*> of_file;
  for (const place_file& file : read_seed_files(result))
    of_file.push_back(file.vertices > 0 ? surfaces.find(file.path) : nullptr);
  const auto add = [&](const std::string& name, const constant* c, std::size_t column, std::size_t columns) {
    if (c == nullptr || c->values.size() != roi->values.size() * columns) return;
    const vertex_map what{name, c->unit, c->meaning, "no seed", {}};
    for (std::size_t i = 0; i < roi->values.size(); ++i) {
      const auto file = static_cast<std::size_t>(roi->values[i]);
      if (file < of_file.size() && of_file[file] != nullptr)
        set_value(*of_file[file], what, static_cast<std::uint64_t>(place->values[i]), c->values[i * columns + column]);
    }
  };
  const std::vector<std::string> targets = list_targets(result);
  add("accepted", result.find_constant("seeds", "accepted"), 0, 1);
  for (std::size_t t = 0; t < targets.size(); ++t)
    add("seeds_to_" + targets[t], result.find_constant("seeds", "hits"), t, targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t)
    add("seeds_to_" + targets[t] + "_lengths", result.find_constant("seeds", "mean_length_mm"), t, targets.size());
}

void add_sums(const matrix_places& places, const std::vector<double>& sums, const vertex_map& what,
              surface_list& surfaces) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const place_file& file = places.files[places.file[i]];
    shown_surface* s = file.vertices > 0 ? surfaces.find(file.path) : nullptr;
    if (s != nullptr) set_value(*s, what, places.place[i], sums[i]);
  }
}

void add_matrix_maps(const result_reader& result, surface_list& surfaces) {
  const bool has_rows = result.find_constant("matrix", "row_roi") != nullptr,
             has_columns = result.find_constant("matrix", "column_roi") != nullptr;
  if (!result.complete() || (!has_rows && !has_columns)) return;
  constexpr std::uint64_t max_entries = std::uint64_t{1} << 30;
  if (result.point_count() > max_entries) {
    for (shown_surface& s : surfaces.all())
      s.why_not = fmt::format("the matrix has {} entries, more than the {} that are added up here",
                              result.point_count(), max_entries);
    return;
  }
  const bool is_triangle =
      fsl_matrix_number(result) == 3 && !result.provenance().at("inputs").contains("target3-columns");
  const matrix_sums sums = sum_matrix(result, is_triangle);
  if (has_rows)
    add_sums(read_row_places(result), sums.rows,
             {"row_sum", "1", "sum of the vertex's row of the matrix", "no row", {}}, surfaces);
  if (has_columns && !is_triangle)
    add_sums(read_column_places(result), sums.columns,
             {"column_sum", "1", "sum of the vertex's column of the matrix", "no column", {}}, surfaces);
}

/// The density in the voxels of vertices that are no seeds.
void add_density(const result_reader& result, surface_list& surfaces) {
  if (!result.has("density")) return;
  const vertex_map what{"density", "1", "accepted streamlines that visit the vertex's voxel", "outside the image", {}};
  const grid_space space(result.grid());
  const std::vector<float> density = result.read_map("density");
  for (shown_surface& s : surfaces.all()) {
    if (!s.maps.empty()) continue;
    for (std::size_t i = 0; i < s.mesh.points_mm.size(); ++i) {
      const auto& [x, y, z] = s.mesh.points_mm[i];
      const auto voxel = find_voxel(
          result.grid(), space.to_index({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}));
      if (voxel) set_value(s, what, i, static_cast<double>(density[*voxel]));
    }
  }
}

}  // namespace

std::vector<shown_surface> read_track_surfaces(const result_reader& result) {
  const bool has_surfaces = result.configuration().contains("mesh-space") && result.provenance().contains("inputs");
  if (!has_surfaces) return {};
  surface_list surfaces(result);
  add_seed_maps(result, surfaces);
  add_matrix_maps(result, surfaces);
  add_density(result, surfaces);
  return std::move(surfaces.all());
}

}  // namespace voxherd
