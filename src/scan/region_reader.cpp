#include "src/scan/region_reader.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/text.hpp"
#include "kernels/track/surfaces.hpp"
#include "src/io/fingerprint.hpp"

namespace voxherd {

namespace {

/// A region of one of several files.
struct file_region {
  std::size_t file;
  std::int32_t label;      ///< in the file
  std::string name;        ///< in the file's table; "" for a mask
  std::string hemisphere;  ///< the file's structure, else its number
};

void add_regions(const label_image& image, std::size_t file, bool has_labels, const std::string& hemisphere,
                 std::vector<file_region>& regions) {
  const std::vector<std::string> names = names_of(image.values, image.names);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    regions.push_back({file, image.values[i],
                       !has_labels                         ? ""
                       : names.empty() || names[i].empty() ? std::to_string(image.values[i])
                                                           : names[i],
                       hemisphere});
}

/// Regions have the labels of their files if these are all different, else their numbers; if some have names, all do.
/// Names that several files have are different regions, as `export --parcels` has them: CORTEX_LEFT_V1.
void number_regions(const std::vector<file_region>& regions, label_image& all) {
  std::map<std::int32_t, int> labels;
  std::map<std::string, std::set<std::size_t>> files;
  for (const file_region& r : regions) {
    ++labels[r.label];
    files[r.name].insert(r.file);
  }
  const bool keep_labels = labels.size() == regions.size() && !files.contains("");
  std::vector<std::int32_t> number{0};
  for (const file_region& r : regions) {
    number.push_back(keep_labels ? r.label : static_cast<std::int32_t>(number.size()));
    all.values.push_back(number.back());
    if (files.size() == 1 && r.name.empty()) continue;
    all.names[number.back()] = r.name.empty()                 ? fmt::format("file {}", r.file + 1)
                               : files.at(r.name).size() == 1 ? r.name
                                                              : r.hemisphere + "_" + r.name;
  }
  for (std::int32_t& label : all.label) label = number[static_cast<std::size_t>(label)];
  std::sort(all.values.begin(), all.values.end());
}

}  // namespace

const option_table<surface_request>& surface_options() {
  using T = surface_request;
  // clang-format off
  static const option_table<T> table = option_table<T>()
    .group("Regions", {
      {"mesh-space", &T::meshes, mesh_space_words,
       {.text = "coordinates of surfaces: mm of the world (caret), or another of FSL's --meshspace", .standard = "caret",
        .stored = always, .paper = true}},
      {"surface-values", &T::values, text_kind::file,
       {.text = "values or labels per vertex (.func.gii, .shape.gii, .label.gii), one file for each surface of regions and seeds, "
                "in the order of the options: vertices with 0 are left out", .many = true, .paper = true}}});
  // clang-format on
  return table;
}

std::vector<std::int32_t> label_touched_voxels(const labelled_surface& s, const image_grid& grid) {
  std::vector<track::surface_triangle> triangles;
  for (const auto& corner : s.mesh.triangles)
    if (std::any_of(corner.begin(), corner.end(), [&](std::uint32_t c) { return s.label[c] != 0; }))
      triangles.push_back({{corner[0], corner[1], corner[2]}, 0, 0});
  std::int32_t size[3];
  std::copy(grid.size.begin(), grid.size.end(), size);
  const track::triangle_cells cells = track::list_triangles(size, s.mesh.positions, triangles, 0);
  std::vector<std::int32_t> found(grid.voxel_count()), samples;
  for (std::size_t v = 0; v < found.size(); ++v) {
    samples.clear();
    for (std::uint32_t i = cells.begin[v]; i < cells.begin[v + 1]; ++i)
      for (const std::uint32_t corner : triangles[cells.triangles[i].number].corner)
        if (s.label[corner] != 0) samples.push_back(s.label[corner]);
    found[v] = find_most_frequent(samples);
  }
  return found;
}

region_reader::region_reader(const surface_request& request, const image_grid& grid, const nlohmann::json& geometry)
    : request_(request), grid_(grid, geometry) {}

void region_reader::match_values(const std::vector<std::string>& files, nlohmann::json& provenance) {
  if (request_.values.empty()) return;
  const std::vector<std::string> surfaces = different_surfaces(files);
  if (surfaces.size() != request_.values.size())
    refuse_usage("--surface-values: {} files for {} surfaces of regions and seeds, expected one each",
                 request_.values.size(), surfaces.size());
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    values_of_[surfaces[i]] = request_.values[i];
    provenance[fmt::format("surface-values {}", i + 1)] = fingerprint(request_.values[i]);
  }
}

labelled_surface region_reader::read_labelled(const std::string& path, label_kind kind, nlohmann::json& input) {
  has_surfaces_ = true;
  labelled_surface s{place_surface(path, request_.meshes.value_or(mesh_space::caret), grid_), {}, {}};
  const auto other = values_of_.find(path);
  std::string name = path;
  if (other != values_of_.end()) {
    name = other->second;
    const surface_values read = replace_values(other->second, s.mesh);
    for (const surface_label& l : read.labels) s.names[l.key] = plain_name(l.name);
  }
  const std::int32_t largest = s.mesh.has_rounded_values ? largest_float_label : largest_label;
  const auto is_zero = [](double v) { return v == 0; };
  if (kind == label_kind::labels && !std::all_of(s.mesh.values.begin(), s.mesh.values.end(), is_zero)) {
    for (std::size_t i = 0; i < s.mesh.values.size(); ++i)
      s.label.push_back(to_label(s.mesh.values[i], largest, kind, name, "vertex", i));
  } else {
    const std::vector<std::uint8_t> active = find_active(s.mesh);
    s.label.assign(active.begin(), active.end());
  }
  const auto vertices = s.label.size() - static_cast<std::size_t>(std::count(s.label.begin(), s.label.end(), 0));
  if (vertices == 0) refuse_data("{}: 0 of {} values are above 0, expected at least one", name, s.label.size());
  input["vertices"] = vertices;
  if (!s.mesh.structure.empty()) input["structure"] = s.mesh.structure;
  return s;
}

label_image region_reader::read(const std::string& path, label_kind kind, nlohmann::json& input) {
  if (!is_surface_mask(path)) return read_labels(path, grid_.in_file(), kind);
  labelled_surface s = read_labelled(path, kind, input);
  label_image image{path, label_touched_voxels(s, grid_), list_labels(s.label), {}, std::move(s.names)};
  turn_rows(grid_, image.label);
  count_voxels(image);
  const std::uint64_t voxels = image.voxels_with({}).size();
  if (voxels == 0) refuse_data("{}: its triangles touch no voxel of the image; is it of this subject?", path);
  spdlog::info("{}: is a surface; the triangles of {} vertices touch {}", path,
               input.at("vertices").get<std::uint64_t>(), counted(voxels, "voxel"));
  return image;
}

bool region_reader::has_label_file(const std::string& path) const {
  const auto file = values_of_.find(path);
  return file != values_of_.end() && read_surface_values(file->second).is_label;
}

label_image region_reader::read_parcellation(const std::vector<std::string>& paths, const char* option,
                                             nlohmann::json& provenance) {
  if (paths.size() == 1) {
    nlohmann::json& input = provenance[option] = fingerprint(paths.front());
    return read(paths.front(), label_kind::labels, input);
  }
  label_image all{paths.front() + ", ...", std::vector<std::int32_t>(grid_.voxel_count()), {}, {}, {}};
  std::vector<file_region> regions;  // in the order of their numbers, from 1
  std::uint64_t shared = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    nlohmann::json& input = provenance[fmt::format("{} {}", option, i + 1)] = fingerprint(paths[i]);
    const bool has_labels = has_label_file(paths[i]);
    const label_image image = read(paths[i], has_labels ? label_kind::labels : label_kind::mask, input);
    const auto before = static_cast<std::int32_t>(regions.size());
    add_regions(image, i, has_labels, input.value("structure", std::to_string(i + 1)), regions);
    for (const std::uint64_t v : counted_voxels(image, input)) {
      shared += all.label[v] != 0 ? 1 : 0;
      if (all.label[v] != 0) continue;
      const auto key = std::lower_bound(image.values.begin(), image.values.end(), image.label[v]);
      all.label[v] = before + 1 + static_cast<std::int32_t>(key - image.values.begin());
    }
  }
  if (shared > 0)
    spdlog::info("--{}: {} in several files; they belong to the first of them", option, counted(shared, "voxel"));
  number_regions(regions, all);
  count_voxels(all);
  return all;
}

std::vector<vector3> region_reader::read_vertices(const std::string& path, const std::vector<std::int32_t>& labels,
                                                  const char* labels_option, nlohmann::json& input) {
  const labelled_surface s = read_labelled(path, labels.empty() ? label_kind::mask : label_kind::labels, input);
  check_labels({path, {}, list_labels(s.label), {}, {}}, labels, labels_option);
  std::vector<vector3> places;
  for (std::size_t i = 0; i < s.label.size(); ++i) {
    if (s.label[i] == 0 || (!labels.empty() && !std::binary_search(labels.begin(), labels.end(), s.label[i]))) continue;
    vector3 at = s.mesh.position(i);
    if (grid_.is_turned()) at[0] = static_cast<double>(grid_.size[0] - 1) - at[0];
    places.push_back(at);
  }
  input["vertices"] = places.size();
  return places;
}

std::optional<mesh_space> region_reader::used_meshes() const {
  if (has_surfaces_) return request_.meshes.value_or(mesh_space::caret);
  if (request_.meshes) refuse_usage("--mesh-space has no meaning without surfaces");
  return std::nullopt;
}

std::vector<std::string> names_of(const std::vector<std::int32_t>& labels,
                                  const std::map<std::int32_t, std::string>& table) {
  std::vector<std::string> names;
  for (const std::int32_t l : labels)
    if (!table.empty()) names.push_back(table.contains(l) ? table.at(l) : std::to_string(l));
  return names;
}

void refuse_surface(const std::string& path, const char* option) {
  if (is_surface_mask(path)) refuse_usage("--{} {}: is a surface, expected an image", option, path);
}

}  // namespace voxherd
