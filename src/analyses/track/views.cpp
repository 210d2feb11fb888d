#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/failure.hpp"
#include "src/analyses/track/options.hpp"
#include "src/export/cifti.hpp"
#include "src/export/dot_folder.hpp"
#include "src/export/matrix_places.hpp"
#include "src/export/matrix_stream.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/surface_space.hpp"
#include "src/show/analysis_views.hpp"
#include "src/show/chart.hpp"
#include "src/show/common_figures.hpp"
#include "src/show/matrix.hpp"
#include "src/show/methods.hpp"
#include "src/show/pictures.hpp"
#include "src/show/surfaces.hpp"

namespace voxherd {

namespace {

/// Options whose files may be surfaces, seeds first.
constexpr const char* mask_options[] = {"seed-image", "connectome",        "targets",      "target2",
                                        "target3",    "target3-columns",   "matrix4-rows", "include",
                                        "stop",       "walk-through-stop", "exclude"};

/// A copy of the surface in mm of the world, or why there is none.
shown_surface read_shown(const place_file& file, const result_reader& result) {
  shown_surface s;
  s.name = one_line(std::filesystem::path(file.path).filename().string());
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
  constexpr std::uint64_t max_number = std::uint64_t{1} << 32;
  const constant* rois = result.find_constant("seeds", "roi");
  if (rois == nullptr) return;
  const auto roi = result.constant_indices("seeds", "roi", rois->values.size(), max_number),
             place = result.constant_indices("seeds", "place", roi.size(), max_number);
  std::vector<shown_surface*> of_file;
  for (const place_file& file : read_seed_files(result))
    of_file.push_back(file.vertices > 0 ? surfaces.find(file.path) : nullptr);
  const auto add = [&](const std::string& name, const constant* c, std::size_t column, std::size_t columns) {
    if (c == nullptr || c->values.size() != roi.size() * columns) return;
    const vertex_map what{name, c->unit, c->meaning, "no seed", {}};
    for (std::size_t i = 0; i < roi.size(); ++i)
      if (roi[i] < of_file.size() && of_file[roi[i]] != nullptr)
        set_value(*of_file[roi[i]], what, place[i], c->values[i * columns + column]);
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
  const std::vector<float> density = result.read_map("density", 1);
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

/// The surfaces among the seeds and masks of a result of track, each file once, with what the result knows of their
/// vertices: streamlines of seeds, sums of a matrix, and the density at the others. Throws failure (bad_data, disk).
std::vector<shown_surface> read_track_surfaces(const result_reader& result) {
  const bool has_surfaces = result.configuration().contains("mesh-space") && result.provenance().contains("inputs");
  if (!has_surfaces) return {};
  surface_list surfaces(result);
  add_seed_maps(result, surfaces);
  add_matrix_maps(result, surfaces);
  add_density(result, surfaces);
  return std::move(surfaces.all());
}

}  // namespace

}  // namespace voxherd

namespace voxherd::report {

namespace {

double streamline_number(const result_draft& d, const char* name) {
  const constant* c = d.result.find_constant("streamlines", name);
  return c == nullptr || c->values.empty() ? 0 : c->values.front();
}

std::string share_text(double part, double all) {
  return all > 0 ? fmt::format("{:.3g} %", 100 * part / all) : std::string("0 %");
}

void add_streamlines(result_draft& d) {
  const double started = streamline_number(d, "started"), accepted = streamline_number(d, "waytotal"),
               steps = streamline_number(d, "steps");
  const std::string step = configured(d.result, "step", "0.5");
  table t{"Numbers of streamlines", {"quantity", "value", "meaning"}, {}};
  t.rows.push_back({"started", number_text(started), "streamlines that were drawn"});
  t.rows.push_back({"waytotal", number_text(accepted), "accepted streamlines"});
  t.rows.push_back({"accepted", share_text(accepted, started), "waytotal divided by started"});
  if (started > 0)
    t.rows.push_back({"mean steps", number_text(steps / started), fmt::format("of a streamline, {} mm each", step)});
  d.out.sections.back().tables.push_back(t);
  d.out.numbers["streamlines"] = {{"started", started}, {"waytotal", accepted}, {"steps", steps}};
}

/// How large the tract is above each threshold of the density.
void add_volumes(result_draft& d) {
  const double accepted = streamline_number(d, "waytotal");
  if (!d.result.has("density") || accepted <= 0) return;
  const std::vector<float> density = read_values(d, d.result.output("density"));
  const auto& mm = d.result.grid().voxel_size_mm;
  const double voxel_ml = static_cast<double>(mm[0]) * static_cast<double>(mm[1]) * static_cast<double>(mm[2]) / 1000;
  std::vector<bar> bars;
  table t{"Volume above a threshold", {"density / waytotal", "density", "voxels", "volume (ml)"}, {}};
  for (const double percent_of_all : {0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0}) {
    const double limit = percent_of_all / 100 * accepted;
    const auto voxels = std::count_if(density.begin(), density.end(),
                                      [&](float v) { return v > 0 && static_cast<double>(v) >= limit; });
    const double ml = static_cast<double>(voxels) * voxel_ml;
    const std::string name = fmt::format("at least {:.3g} %", percent_of_all);
    bars.push_back({name, ml});
    t.rows.push_back({name, number_text(limit), std::to_string(voxels), number_text(ml)});
    d.out.numbers["volume_above"].push_back({{"percent", percent_of_all}, {"voxels", voxels}, {"ml", ml}});
  }
  d.out.sections.back().figures.push_back(
      {"Volume of the tract in ml",
       draw_bars(bars, "Volume of the voxels with at least a part of the accepted streamlines, in ml."),
       "The volume of the voxels that at least this part of the accepted streamlines visits. Where it changes quickly "
       "with the threshold, so does every result that is taken from the thresholded density.",
       {t},
       false});
}

void add_connectome(result_draft& d) {
  if (d.result.find_constant("connectome", "labels") == nullptr) return;
  d.add_section("Connectome");
  add_matrix(d, "count", best::largest, names_shown::yes);
  if (d.result.find_constant("connectome", "share") != nullptr) add_matrix(d, "share", best::largest);
  add_matrix(d, "mean_length_mm", best::largest);
  const constant* accepted = d.result.find_constant("connectome", "waytotal");
  if (accepted == nullptr) return;
  d.out.numbers["waytotal_of_regions"] = accepted->values;
  const auto none = std::count(accepted->values.begin(), accepted->values.end(), 0.0);
  if (none > 0 && d.result.complete())
    d.warn(fmt::format("{} of {} regions {} no accepted streamlines: their rows are empty.", none,
                       accepted->values.size(), none == 1 ? "has" : "have"));
}

/// "seed voxel"; "seed" where some are vertices.
const char* seed_word(const methods_text& m) {
  return m.result.configuration().contains("seed_surfaces") ? "seed" : "seed voxel";
}

/// "5000 streamlines per seed voxel of each region".
std::string seeding_text(methods_text& m) {
  const bool has_seeds_in_regions = m.result.find_constant("connectome", "waytotal") != nullptr;
  if (m.result.configuration().contains("tracts"))
    return m.state("tract-samples") + " streamlines per seed voxel, times a factor of each tract";
  return fmt::format("{} streamlines per {}{}", m.state("samples-per-seed"), seed_word(m),
                     has_seeds_in_regions ? " of each region" : "");
}

void add_seeds(methods_text& m) {
  if (m.result.configuration().contains("warp-error-median"))
    m.data +=
        fmt::format(" Of points that the warps map there and back, half return within {} mm and 95 % within {} mm.",
                    m.state("warp-error-median"), m.state("warp-error-p95"));
  const constant* started = m.result.find_constant("streamlines", "started");
  const double per_seed = m.result.configuration().value("samples-per-seed", 0.0);
  if (started != nullptr && started->values.size() == 1 && per_seed > 0)
    m.data += fmt::format(" Streamlines started in {:.0f} {}s.", started->values.front() / per_seed, seed_word(m));
}

void add_regions(methods_text& m) {
  const constant* labels = m.result.find_constant("connectome", "labels");
  if (labels == nullptr || m.result.find_constant("connectome", "share") == nullptr) return;
  const bool has_seeds_in_regions = m.result.find_constant("connectome", "waytotal") != nullptr;
  const bool is_at_ends = m.result.configuration().value("join-regions", "") == "ends";
  m.text += fmt::format(
      " Streamlines {} of {} regions were counted{}; a pair's share is its count{} divided by the root of the "
      "product of both regions' sums over all others.",
      has_seeds_in_regions ? "from each to every other one"
      : is_at_ends         ? "with their ends in two"
                           : "that pass two",
      labels->values.size(),
      is_at_ends ? fmt::format(", up to {} mm from the nearest voxel of a region", m.state("end-radius")) : "",
      has_seeds_in_regions ? " in both directions" : "");
}

void write_track_methods(methods_text& m) {
  m.text = fmt::format(
      "Probabilistic streamlines were drawn through posterior samples of fibre directions with {} (after Behrens et "
      "al. 2003, 2007, as FSL's probtrackx2): {}, steps of {} mm with angles of at most {} degrees between them, "
      "fibres "
      "with a volume fraction above {}, first fibre {}{}.",
      writing_program(m.result), seeding_text(m), m.state("step"), m.state("max-angle"), m.state("fibre-threshold"),
      m.state("first-fibre"), m.state("loop-check", "off") == "on" ? ", with a loop check" : "");
  if (m.result.configuration().contains("warp-error-median"))
    m.text += " Seeds, masks and densities were in another space, connected with that of the samples by warps.";
  add_seeds(m);
  add_regions(m);
  cite_ball_and_stick(m);
}

/// Pictures and distributions are of the voxels that streamlines visit, with some of the others around them.
void look_at_tract(result_draft& d) {
  if (!d.result.has("density")) return;
  constexpr std::uint64_t margin = 4;
  const std::vector<float> density = d.result.read_map("density");
  std::erase_if(d.fitted, [&](std::uint64_t v) { return !(density[v] > 0); });
  d.described.clear();
  if (d.fitted.empty()) return;
  const view_box all = d.slices.box;
  d.slices = plan_mosaic(d.view, d.fitted, max_slices);
  view_box& box = d.slices.box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.first[a] = std::max(all.first[a], box.first[a] - std::min(margin, box.first[a]));
    box.last[a] = std::min(all.last[a], box.last[a] + margin);
  }
}

void write_streamline_chapter(result_draft& d) {
  look_at_tract(d);
  d.add_section("Streamlines");
  add_streamlines(d);
  d.add_section("Density");
  const map_look count{.map = colour_map::viridis, .is_count = true};
  add_maximum_views(d, "density", count);
  add_map(d, "density", count);
  add_volumes(d);
  add_maximum_views(d, "accepted", count);
  add_connectome(d);
  if (d.result.has("mean_length")) {
    d.add_section("Lengths");
    add_map(
        d, "mean_length",
        {.map = colour_map::viridis, .first = 0, .note = "Bright voxels are far from the seed.", .zero_is_none = true});
    add_map(d, "length_sum",
            {.map = colour_map::viridis, .first = 0, .note = "It is the density with FSL's pd.", .zero_is_none = true});
    add_histogram(d, "mean_length", 0, {});
  }
}

void write_track_chapter(result_draft& d) {
  const bool is_matrix = d.result.find_constant("streamlines", "started") == nullptr;
  is_matrix ? write_all_outputs(d) : write_streamline_chapter(d);
  add_surfaces(d, read_track_surfaces(d.result));
}

}  // namespace

}  // namespace voxherd::report

namespace voxherd {

namespace {

std::vector<std::string> track_words(const bids_inputs& inputs) {
  track_request r;
  r.samples = inputs.result;
  r.region_names = inputs.region_names;
  if (!inputs.parcellation.empty()) r.connectome = {inputs.parcellation};
  r.paths = inputs.paths;
  return track_options().words(r);
}

}  // namespace

extern const analysis_views track_views{
    .analysis = "track",
    .chapter = {report::write_track_chapter, report::write_track_methods},
    .bids = {.method = {"streamlines", "probabilistic streamlines through samples of the ball & stick model"},
             .run = {.input = bids_input::result,
                     .needs = "ballstick",
                     .sources = {"model-bs_param-polar_desc-merged_dwimap", "model-bs_param-vf_desc-merged_dwimap"},
                     .has_regions = true,
                     .has_paths = true,
                     .words = track_words}},
    .viewer = {.read_surfaces = read_track_surfaces},
    .exports = {&dot_export, &cifti_export}};

}  // namespace voxherd
