#include "src/analyses/track/matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/main_memory.hpp"
#include "core/step_outputs.hpp"
#include "src/analyses/track/mask_files.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/voxel_map.hpp"

namespace voxherd {

namespace {

seed_matrix make_matrix1(const std::string& file, const track_inputs& in) {
  seed_matrix m{1, file, in.space.grid, {}, std::vector<std::int32_t>(in.voxels.size(), -1)};
  m.places = in.seed_places;
  const std::vector<track::seed>& seeds = in.draws.front().seeds;
  for (std::size_t i = 0; i < seeds.size(); ++i)
    m.voxels.push_back(in.is_vertex(i) ? no_voxel : std::uint64_t{seeds[i].index});
  return m;
}

}  // namespace

std::uint64_t kept_list_bytes(const session& s) {
  constexpr std::uint64_t max_bytes_of_node = 16'000'000'000;
  return std::min(max_bytes_of_node, read_main_memory().usable() / 4) / static_cast<std::uint64_t>(s.node_size());
}

seed_matrix make_mask_matrix(int number, const std::string& file, const std::string& mask, mask_rules rules) {
  seed_matrix m{number, file, fsl_grid(read_nifti_header(mask)), {}, {}};
  m.voxels = read_labels(mask, m.grid, label_kind::mask, "", rules).voxels_with({});
  return m;
}

seed_matrix make_listed_matrix(int number, const std::string& file, const std::vector<std::string>& masks,
                               const track_inputs& in) {
  const auto image = std::find_if_not(masks.begin(), masks.end(), is_surface_mask);
  seed_matrix m{number, file, image == masks.end() ? in.space.grid : fsl_grid(read_nifti_header(*image)), {}, {}};
  std::vector<bool> has_column(m.grid.voxel_count());
  const grid_space of_images(m.grid), of_surfaces(in.space.grid);
  for (std::uint32_t i = 0; i < masks.size(); ++i) {
    std::uint32_t place = 0;
    const auto add = [&](std::uint64_t voxel, const vector3& position_mm, std::uint32_t vertex) {
      m.voxels.push_back(voxel);
      m.places.push_back({i, place, vertex, to_float(position_mm)});
    };
    if (is_surface_mask(masks[i])) {
      const surface_masks::file& mesh = in.surfaces.files()[in.surfaces.find(masks[i])];
      for (; place < mesh.vertices; ++place) {
        const std::uint32_t vertex = mesh.first_vertex + place;
        if (in.surfaces.is_active(vertex)) add(no_voxel, of_surfaces.to_world(in.surfaces.position(vertex)), vertex);
      }
      continue;
    }
    for (const std::uint64_t v : read_labels(masks[i], m.grid, label_kind::mask, "", in.rules).voxels_with({})) {
      if (!has_column[v]) add(v, of_images.to_world(voxel_position(m.grid, v)), list_place::no_vertex);
      has_column[v] = true;
      ++place;
    }
  }
  return m;
}

seed_matrix make_target_columns(int number, const std::string& file, const std::string& name, const char* option,
                                track_inputs& in) {
  const std::vector<std::string> masks = find_mask_files({name}, option);
  if (masks.size() == 1 && !is_surface_mask(masks.front())) {
    in.provenance[option] = fingerprint(masks.front());
    seed_matrix m = make_mask_matrix(number, file, masks.front(), in.rules);
    in.provenance[option]["voxels"] = m.voxels.size();
    in.provenance[option]["image"] = read_nifti_header(masks.front()).geometry;  // of the export's images of columns
    return m;
  }
  in.provenance[option] = fingerprint(masks);
  seed_matrix m = make_listed_matrix(number, file, masks, in);
  if (!has_surfaces(masks)) {
    m.places.clear();
    return m;
  }
  std::vector<std::uint64_t> sizes(masks.size());
  for (const list_place& p : m.places) sizes[p.file] = std::max<std::uint64_t>(sizes[p.file], p.place + 1);
  for (std::size_t i = 0; i < masks.size(); ++i)
    if (is_surface_mask(masks[i])) sizes[i] = in.surfaces.files()[in.surfaces.find(masks[i])].vertices;
  in.configuration[fmt::format("{}_surfaces", option)] = describe_list(masks, sizes, in.surfaces);
  return m;
}

seed_matrix make_fibre_matrix(const track_request& request, track_inputs& in) {
  const std::string mask = find_mask_file(request.target4, "target4");
  in.provenance["target4"] = fingerprint(mask);
  seed_matrix m = make_mask_matrix(4, request.matrix4, mask, in.rules);
  in.provenance["target4"]["voxels"] = m.voxels.size();
  m.by_fibre = true;
  constexpr std::size_t max_cells = 0x7fffffff;
  if (m.cells() > max_cells)
    refuse_data("{}: has {} voxels, expected at most {}", mask, m.voxels.size(), max_cells / track::fibre_columns);
  return m;
}

seed_matrix make_region_matrix(const track_inputs& in) {
  seed_matrix m;
  m.number = 3;
  m.grid = in.regions.grid;
  m.voxels.assign(in.regions.labels.size(), no_voxel);
  m.column = in.regions.column;
  m.at_ends = in.regions.at_ends;
  m.end_radius_mm = in.regions.end_radius_mm;
  return m;
}

void number_columns(seed_matrix& m, const track_inputs& in) {
  m.column.assign(m.grid.voxel_count(), -1);
  for (std::size_t i = 0; i < m.voxels.size(); ++i)
    if (m.voxels[i] != no_voxel) m.column[m.voxels[i]] = static_cast<std::int32_t>(i);
  m.vertex_column.assign(m.places.empty() ? 0 : in.surfaces.vertices(), -1);
  for (std::size_t i = 0; i < m.places.size(); ++i)
    if (m.places[i].is_vertex()) m.vertex_column[m.places[i].vertex] = static_cast<std::int32_t>(i);
}

std::int32_t to_steps(double mm, const track_inputs& in) {
  return static_cast<std::int32_t>(std::ceil(mm / in.step_mm - 1e-4));
}

void adapt_to_matrix(const seed_matrix& matrix, const track_inputs& in, track::track_input& view) {
  view.matrix = matrix.view(in);
  view.how.min_total = matrix.min_total;
  view.columns = 0;
  view.target_begin = {};
  view.targets = {};
}

track::column_grid seed_matrix::view(const track_inputs& in) const {
  track::column_grid view;
  view.column = column.data();
  if (!vertex_column.empty()) view.vertex_column = vertex_column.data();
  view.columns = static_cast<std::uint32_t>(cells());
  view.by_fibre = by_fibre;
  view.square = number == 1;
  view.after_start = after_start;
  view.at_ends = at_ends;
  view.end_radius_mm = static_cast<float>(end_radius_mm);
  for (std::size_t d = 0; d < 3; ++d) view.voxel_mm[d] = static_cast<float>(grid.voxel_size_mm[d]);
  for (std::size_t d = 0; d < 3; ++d) view.size[d] = static_cast<std::int32_t>(grid.size[d]);
  const fsl_grid& points = by_fibre ? in.samples.grid : in.space.grid;
  view.to_voxel = (number == 1 ? voxel_map() : map_by_world(points, grid)).rounded();
  return view;
}

void add_places(const std::vector<list_place>& places, const std::string& prefix, const std::string& group,
                std::vector<constant>& all) {
  if (places.empty()) return;
  const std::uint64_t n = places.size();
  constant roi{prefix + "roi", {n}, {}, "1", "number of its file in the list, from 0", group};
  constant place{prefix + "place", {n}, {}, "1", "number of the vertex, or of the voxel of the mask, from 0", group};
  constant position{prefix + "position", {n, 3}, {}, "mm", "position in the world, RAS+", group};
  for (const list_place& p : places) {
    roi.values.push_back(p.file);
    place.values.push_back(p.place);
    position.values.insert(position.values.end(), p.position_mm.begin(), p.position_mm.end());
  }
  all.insert(all.end(), {std::move(roi), std::move(place), std::move(position)});
}

std::vector<seed_matrix> make_seed_matrices(const session& s, const track_request& request, track_inputs& in) {
  std::vector<seed_matrix> all;
  if (!request.matrix1.empty()) {
    all.push_back(make_matrix1(request.matrix1, in));
    all.back().min_total = to_steps(request.matrix_min_length_mm, in);
  }
  if (!request.matrix2.empty())
    s.agree([&] { all.push_back(make_target_columns(2, request.matrix2, request.target2, "target2", in)); });
  if (!request.matrix4.empty() && request.matrix4_rows.empty())
    s.agree([&] { all.push_back(make_fibre_matrix(request, in)); });
  for (seed_matrix& m : all) {
    number_columns(m, in);
    m.kept = std::make_shared<kept_rows>(kept_list_bytes(s));
  }
  return all;
}

std::vector<constant> matrix_constants(const seed_matrix& matrix, const std::vector<list_place>& rows) {
  const auto make = [](const char* name, std::vector<std::uint64_t> shape, std::vector<double> values, const char* unit,
                       const char* meaning) {
    return constant{name, std::move(shape), std::move(values), unit, meaning, "matrix"};
  };
  const auto size = [](std::uint64_t n) { return static_cast<double>(n); };
  const auto& n = matrix.grid.size;
  const auto& affine = matrix.grid.in_file().voxel_to_world;
  std::vector<double> voxels;
  for (const std::uint64_t v : matrix.voxels) voxels.push_back(v == no_voxel ? -1 : size(matrix.grid.turned(v)));
  std::vector<constant> all = {
      make("number", {1}, {static_cast<double>(matrix.number)}, "1", "FSL's number of the matrix"),
      make("column_voxel", {voxels.size()}, voxels, "1", "linear index of each column's voxel in its image"),
      make("column_image_size", {3}, {size(n[0]), size(n[1]), size(n[2])}, "1", "voxels of this image"),
      make("column_voxel_to_world", {4, 4}, {affine.begin(), affine.end()}, "mm", "matrix of this image")};
  add_places(rows, "row_", "matrix", all);
  add_places(matrix.places, "column_", "matrix", all);
  return all;
}

}  // namespace voxherd
