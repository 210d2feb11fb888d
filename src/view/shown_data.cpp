#include "src/view/shown_data.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <utility>

#include "core/text.hpp"
#include "src/io/fingerprint.hpp"
#include "src/scan/gradients.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/surface_space.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/anatomy.hpp"
#include "src/show/chart.hpp"
#include "src/view/streamlines.hpp"

namespace voxherd::view {

namespace {

namespace fs = std::filesystem;

constexpr auto series_mean = "mean of the series";

/// The first of some files that exists.
std::string find_file(std::initializer_list<fs::path> candidates) {
  std::error_code ignored;
  for (const fs::path& path : candidates)
    if (fs::is_regular_file(path, ignored)) return path.string();
  return "";
}

std::string path_of(const nlohmann::json& inputs, const char* name) {
  return inputs.contains(name) ? inputs.at(name).value("path", "") : "";
}

/// A result's inputs. Returns why they cannot be used, "" if they can.
std::string read_inputs(const nlohmann::json& inputs, connect_request& r) {
  tensor_source_options().read_inputs(inputs, r.tensors);
  if (inputs.contains("bvecs")) r.tensors.series.frame = stored_frame(inputs.at("bvecs"));
  r.within = path_of(inputs, "within");
  if (r.tensors.tensor.empty() && r.tensors.series.bvals.empty())
    return "this result was not computed from a diffusion-weighted series";
  for (const char* name : {"dwi", "bvals", "bvecs", "mask", "grad_dev", "tensor", "within"}) {
    if (path_of(inputs, name).empty()) continue;
    if (const std::string change = describe_change(inputs.at(name)); !change.empty()) return "its input " + change;
  }
  return "";
}

/// The inputs of a result; of one that was computed from samples, those of the samples.
nlohmann::json find_inputs(const result_reader& r) {
  const nlohmann::json inputs = r.provenance().value("inputs", nlohmann::json::object());
  const std::string samples = path_of(inputs, "samples");
  if (!samples.ends_with(".h5") || find_file({samples}).empty()) return inputs;
  try {
    return result_reader(samples).provenance().value("inputs", nlohmann::json::object());
  } catch (const failure&) {
    return inputs;  // this result can be shown without
  }
}

/// Gradients and mask beside a series: NAME.bval and NAME.bvec as dcm2niix writes them, or FSL's names.
connect_request find_beside(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  fs::path stem = fs::path(path).filename();
  while (stem.extension() == ".gz" || stem.extension() == ".nii") stem = stem.stem();
  const std::string name = (folder / stem).string();
  connect_request r;
  r.tensors.series = {path, find_file({name + ".bval", folder / "bvals"}),
                      find_file({name + ".bvec", folder / "bvecs"}),
                      find_file({folder / "nodif_brain_mask.nii.gz", folder / "nodif_brain_mask.nii"}), ""};
  return r;
}

/// Reads directions as they agree with MRtrix's table beside them (NAME.b), as QSIPrep writes it. Returns why they
/// cannot be used, "" if they can.
std::string find_frame_beside(dwi_request& series) {
  const std::string table = find_file({fs::path(series.bvecs).replace_extension(".b")});
  if (series.bvals.empty() || series.bvecs.empty() || table.empty()) return "";
  try {
    const nifti_header image = read_nifti_header(series.dwi);
    series.frame = compare_with_table({series.bvals, series.bvecs}, table, image.grid, image.volumes);
  } catch (const failure& f) {
    return f.what();
  }
  return "";
}

std::string file_name(const std::string& path) { return one_line(fs::path(path).filename().string()); }

/// The map's name, or with a number if another map has it.
std::string find_free_name(const std::string& name, const std::vector<vertex_map>& maps) {
  std::string free = name;
  for (int i = 2; std::any_of(maps.begin(), maps.end(), [&](const vertex_map& m) { return m.name == free; }); ++i)
    free = fmt::format("{} ({})", name, i);
  return free;
}

void add_maps(const std::string& path, surface_values read, shown_surface& s) {
  std::map<std::int32_t, std::string> names;
  if (read.is_label)
    for (const surface_label& l : read.labels) names[l.key] = one_line(l.name);
  for (vertex_values& array : read.arrays) {
    const std::string name = array.name.empty() ? file_name(path) : one_line(array.name);
    s.maps.push_back({find_free_name(name, s.maps), "", "values of " + file_name(path), "no value",
                      to_floats(array.values), names,
                      read.is_label ? std::vector<std::int32_t>(array.values.begin(), array.values.end())
                                    : std::vector<std::int32_t>()});
  }
}

/// A surface that is shown without an image: its own values and those of each array of `values`, GIFTI files. Throws
/// failure (missing_input, bad_data): a file that is none, or values of another surface.
shown_surface read_lone_surface(const std::string& path, const std::vector<std::string>& values) {
  shown_surface s;
  s.name = file_name(path);
  s.mesh = read_surface(path);
  for (const std::string& file : values)
    add_maps(file, read_vertex_values(file, path, s.mesh.structure, s.mesh.points_mm.size()), s);
  if (!s.mesh.values.empty())
    add_maps(path, {s.mesh.structure, {{"", s.mesh.values, s.mesh.has_rounded_values}}, {}, false}, s);
  return s;
}

/// A grid around a surface, along the world's axes: voxels of 1 mm, of a large surface at most about 100 along an axis.
image_grid grid_around(const surface& mesh) {
  constexpr double max_voxels = 100, margin = 2;  // voxels
  std::array<double, 3> low{}, high{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [least, greatest] = std::minmax_element(mesh.points_mm.begin(), mesh.points_mm.end(),
                                                       [d](const auto& a, const auto& b) { return a[d] < b[d]; });
    low[d] = static_cast<double>((*least)[d]);
    high[d] = static_cast<double>((*greatest)[d]);
  }
  const double side = std::max(
      {1.0, (high[0] - low[0]) / max_voxels, (high[1] - low[1]) / max_voxels, (high[2] - low[2]) / max_voxels});
  image_grid grid;
  grid.voxel_to_world[15] = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    grid.size[d] = static_cast<std::uint64_t>(std::ceil((high[d] - low[d]) / side + 2 * margin)) + 1;
    grid.voxel_size_mm[d] = side;
    grid.voxel_to_world[5 * d] = side;
    grid.voxel_to_world[4 * d + 3] = low[d] - margin * side;
  }
  return grid;
}

}  // namespace

shown_data::shown_data(const std::string& path, const std::vector<std::string>& surface_values) : path_(path) {
  if (is_surface_mask(path)) {
    surface_ = read_lone_surface(path, surface_values);
    grid_ = grid_around(surface_->mesh);
    maps_.push_back({"no image", "", "", "", 1, 0});
    return;
  }
  if (!surface_values.empty()) refuse_usage("--surface-values has no use here: {} is not a surface", path);
  if (is_nifti_name(path)) {
    image_ = read_nifti_header(path);
    grid_ = image_->grid;
    list_volumes();
  } else {
    result_ = std::make_unique<result_reader>(path);
    grid_ = result_->grid();
    list_outputs();
  }
}

std::string shown_data::analysis() const { return result_ ? result_->analysis_name() : ""; }

void shown_data::list_outputs() {
  constexpr std::size_t max_components = 9;
  if (report::has_anatomy(*result_))
    maps_.push_back({series_mean, "signal", "mean of the series, which shows the anatomy", "", 1, 0});
  for (const output_spec& o : result_->outputs()) {
    if (o.layout != output_layout::volume) continue;
    const std::size_t components = o.bytes_per_item() / element_bytes(o.type);
    for (std::size_t c = 0; c < components && components <= max_components; ++c)
      maps_.push_back({components == 1 ? o.name : fmt::format("{} {}", o.name, c + 1), report::unit_text(o.unit),
                       o.meaning, o.name, components, c});
  }
  if (maps_.empty() && has_streamlines(*result_))
    maps_.push_back({"density", "", "number of paths in the voxel, each counted once", "", 1, 0});
}

void shown_data::list_volumes() {
  constexpr std::uint64_t max_volumes = 256;
  for (std::uint64_t v = 0; v < image_->volumes && v < max_volumes; ++v)
    maps_.push_back({fmt::format("volume {}", v + 1), "", "a volume of the image", "", 1, v});
}

/// Zeros if the series cannot be read any more.
std::vector<float> shown_data::read_anatomy() const {
  std::vector<float> mean = report::read_anatomy(*result_);
  mean.resize(grid().voxel_count());
  return mean;
}

std::string shown_data::find_overlay() const {
  if (!result_) return "";
  for (const char* name : find_views(*result_).viewer.overlays)
    if (name != nullptr && result_->has(name)) return name;
  return "";
}

std::vector<float> shown_data::read(const shown_map& map) const {
  if (map.name == series_mean) return read_anatomy();
  if (surface_) return std::vector<float>(grid_.voxel_count());
  if (map.output.empty()) return image_ ? read_volume(*image_, map.component) : count_streamlines(*result_);
  const std::vector<float> all = result_->read_map(map.output);
  if (map.components == 1) return all;
  std::vector<float> one;
  for (std::size_t i = map.component; i < all.size(); i += map.components) one.push_back(all[i]);
  return one;
}

std::vector<shown_surface> shown_data::read_surfaces() const {
  if (surface_) return {*surface_};
  const auto read = result_ ? find_views(*result_).viewer.read_surfaces : nullptr;
  return read != nullptr ? read(*result_) : std::vector<shown_surface>();
}

std::optional<connect_request> shown_data::find_connect_request(std::string& why) const {
  connect_request r;
  if (surface_) {
    why = "a surface has no tensors";
    return std::nullopt;
  }
  if (image_) {
    r = find_beside(path_);
    why = find_frame_beside(r.tensors.series);
    if (!why.empty()) return std::nullopt;
    if (!r.tensors.series.bvals.empty() && !r.tensors.series.bvecs.empty()) return r;
    why = "no b-values and gradient directions were found beside the image; give --bvals and --bvecs";
    return std::nullopt;
  }
  const viewer_views& views = find_views(*result_).viewer;
  if (views.tensor_output != nullptr && result_->complete() && result_->has(views.tensor_output)) {
    r.tensors.tensor = path_;
    r.tensors.tensor_from = tensor_origin::voxherd;
    return r;
  }
  if (views.has_connection_settings) r = read_settings_for_other_ends(result_->configuration());
  why = read_inputs(find_inputs(*result_), r);
  if (!why.empty()) return std::nullopt;
  return r;
}

namespace {

bool has_same_grid(const image_grid& a, const image_grid& b) {
  constexpr double tolerance = 1e-3;  // mm per voxel
  return a.size == b.size && std::equal(a.voxel_to_world.begin(), a.voxel_to_world.end(), b.voxel_to_world.begin(),
                                        [](double x, double y) { return std::abs(x - y) <= tolerance; });
}

}  // namespace

std::string shown_data::find_parcellation() const {
  if (!result_) return "";
  const nlohmann::json inputs = result_->provenance().value("inputs", nlohmann::json::object());
  for (const char* name : {"connectome", "targets"}) {
    const std::string path = path_of(inputs, name);
    if (!is_nifti_name(path) || find_file({path}).empty()) continue;
    if (has_same_grid(read_nifti_header(path).grid, grid())) return path;
  }
  return "";
}

}  // namespace voxherd::view
