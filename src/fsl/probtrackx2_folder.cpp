#include "src/fsl/probtrackx2.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/failure.hpp"
#include "src/export/dot_folder.hpp"
#include "src/export/fibres.hpp"
#include "src/io/input_file.hpp"
#include "src/io/output_file.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

/// Writes the matrix in FSL's form: two spaces after each number.
std::string matrix_text(const constant& c) {
  const std::size_t columns = c.shape.size() < 2 ? 1 : c.shape.back();
  std::string text;
  for (std::size_t i = 0; i < c.values.size(); ++i)
    text += fmt::format("{}  {}", c.values[i], (i + 1) % columns == 0 ? "\n" : "");
  return text;
}

void add_target_images(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan) {
  const std::string begin = "seeds_to_", end = "_lengths";
  for (const output_spec& o : result.result().outputs()) {
    const std::string& name = o.name;
    if (!name.starts_with(begin)) continue;
    if (!name.ends_with(end)) {
      plan.images.push_back(
          target_image(result, name.substr(begin.size()), name + ".nii.gz", wanted.distance_corrected));
    } else if (wanted.lengths) {
      plan.images.push_back(map_image(result, name, name + ".nii.gz"));
    }
  }
}

/// Rows of the vertices after those of the voxels, as FSL orders them.
void add_vertex_rows(const result_volumes& result, const probtrackx2_outputs& wanted, std::vector<double>& values,
                     std::vector<double>& lengths) {
  const std::size_t columns = wanted.targets.size();
  const seed_rows rows(result.result(), columns, wanted.distance_corrected);
  for (std::size_t i = 0; i < rows.roi.size(); ++i) {
    if (rows.roi[i] >= wanted.seed_files.size())
      refuse_data("{}: has seeds of file {}, but the command has {} files; repeat it with --forcedir",
                  result.result().path(), rows.roi[i], wanted.seed_files.size());
    if (!wanted.seed_files[rows.roi[i]].is_surface) continue;
    for (std::size_t t = 0; t < columns; ++t) {
      values.push_back(rows.value(i, t, columns, wanted.distance_corrected));
      lengths.push_back(rows.mean_length_mm.empty() ? 0 : rows.mean_length_mm[i * columns + t]);
    }
  }
}

/// matrix_seeds_to_all_targets, of the values in the images seeds_to_NAME.
void add_target_texts(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan) {
  if (!wanted.has_target_text) return;
  const std::size_t columns = wanted.targets.size();
  constant values, lengths;
  values.values.resize(wanted.seeds.size() * columns);
  lengths.values = values.values;
  for (std::size_t t = 0; t < columns; ++t) {
    const std::string name = "seeds_to_" + wanted.targets[t];
    const std::vector<float> count = result.map(name);
    const std::vector<float> length = result.has(name + "_lengths") ? result.map(name + "_lengths") : count;
    for (std::size_t i = 0; i < wanted.seeds.size(); ++i) {
      const std::uint64_t v = wanted.seeds[i];
      values.values[i * columns + t] = static_cast<double>(count[v] * (wanted.distance_corrected ? length[v] : 1));
      lengths.values[i * columns + t] = static_cast<double>(length[v]);
    }
  }
  if (!wanted.seed_files.empty()) add_vertex_rows(result, wanted, values.values, lengths.values);
  values.shape = lengths.shape = {values.values.size() / columns, columns};
  plan.texts.push_back({"matrix_seeds_to_all_targets", matrix_text(values)});
  if (wanted.lengths) plan.texts.push_back({"matrix_seeds_to_all_targets_lengths", matrix_text(lengths)});
}

/// The order of a streamline's points in saved_paths.txt: the first half from the seed on, then the second. They are at
/// equal distances; in the result the first half's lead from its end to the seed. `seed`: its place among them.
std::vector<std::uint64_t> saved_order(std::uint64_t points, std::uint64_t seed) {
  std::vector<std::uint64_t> order;
  for (std::uint64_t p = seed + 1; seed > 0 && p-- > 0;) order.push_back(p);
  for (std::uint64_t p = seed; p < points && (seed == 0 || seed + 1 < points); ++p) order.push_back(p);
  return order;
}

/// Writes each streamline as its number of points, then the points, in voxels of FSL's storage.
void write_saved_paths(const std::string& streamlines, const std::string& path) {
  const result_fibres fibres(streamlines);
  const auto offsets = fibres.offsets();
  const result_reader result(streamlines);
  const grid_space space{fsl_grid(result)};
  const std::vector<std::uint32_t> start = read_start_points(result);
  output_file file(path, output_file::coding::plain);
  std::vector<float> mm;
  for_each_piece(fibres, [&](const fibre_piece& piece) {
    mm.resize(3 * piece.points);
    fibres.read_positions(piece.first_point, mm);
    std::string text;
    for (std::uint64_t f = piece.first_fibre; f < piece.first_fibre + piece.fibres; ++f) {
      const std::uint64_t points = offsets[f + 1] - offsets[f];
      const std::vector<std::uint64_t> order = saved_order(points, start[f]);
      text += fmt::format("# {}\n", order.size());
      for (const std::uint64_t p : order) {
        const float* at = &mm[3 * (offsets[f] + p - piece.first_point)];
        const vector3 v =
            space.to_index({static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2])});
        text += fmt::format("{:.6g} {:.6g} {:.6g}\n", v[0], v[1], v[2]);
      }
    }
    file.write(text.data(), text.size());
  });
  file.finish();
}

/// Densities, the rows of a matrix whose columns are voxels.
struct row_densities {
  explicit row_densities(const result_reader& result) : voxels(result.item_voxels()), rows(result) {}

  /// An image of a row, zero if there is none.
  template <class Value>
  std::vector<float> volume(std::size_t row, std::size_t size, const Value& value) const {
    std::vector<float> image(size);
    if (row + 1 < rows.offsets.size())
      for (std::uint64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i)
        image[rows.column_voxel[rows.column[i]]] = static_cast<float>(value(rows, i));
    return image;
  }

  std::vector<std::uint64_t> voxels;  ///< of each row
  sparse_matrix rows;
};

/// `maps`: of the same run, in whose image the columns are.
std::shared_ptr<row_densities> read_densities(const std::string& path, const result_volumes& maps) {
  auto all = std::make_shared<row_densities>(result_reader(path));
  for (const std::uint64_t voxel : all->rows.column_voxel)
    if (voxel >= maps.grid().voxel_count())
      refuse_data("{}: a column is voxel {}, but {} has an image of {} voxels; repeat the command", path, voxel,
                  maps.result().path(), maps.grid().voxel_count());
  return all;
}

template <class Value>
void add_sparse_density(const result_volumes& result, const std::shared_ptr<row_densities>& all, std::size_t row,
                        const std::string& name, Value value, export_plan& plan) {
  export_image image = map_image(result, "density", name + ".nii.gz");
  image.needs.clear();
  image.make = [all, row, value](const image_source& r, const volume_sink& sink) {
    sink(all->volume(row, r.grid().voxel_count(), value));
  };
  plan.images.push_back(std::move(image));
}

double count_at(const sparse_matrix& m, std::uint64_t i) { return static_cast<double>(m.count[i]); }

/// NAME_X_Y_Z and NAME_X_Y_Z_lengths of each seed; zero where it has no samples.
void add_seed_densities(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan) {
  const auto sum = [](const sparse_matrix& m, std::uint64_t i) { return m.length_sum[i]; };
  const auto mean = [](const sparse_matrix& m, std::uint64_t i) { return m.length_sum[i] / count_at(m, i); };
  const std::shared_ptr<row_densities> all = read_densities(wanted.densities, result);
  for (const std::uint64_t seed : wanted.seeds) {
    const vector3 at = voxel_position(result.grid(), seed);
    const std::string name = fmt::format("{}_{}_{}_{}", wanted.name, at[0], at[1], at[2]);
    const auto row =
        static_cast<std::size_t>(std::find(all->voxels.begin(), all->voxels.end(), seed) - all->voxels.begin());
    if (wanted.distance_corrected) {
      add_sparse_density(result, all, row, name, sum, plan);
    } else {
      add_sparse_density(result, all, row, name, count_at, plan);
    }
    if (wanted.lengths) add_sparse_density(result, all, row, name + "_lengths", mean, plan);
  }
}

/// target_paths_NAME.
void add_target_densities(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan) {
  if (wanted.target_paths.empty()) return;
  const std::shared_ptr<row_densities> all = read_densities(wanted.target_paths, result);
  for (std::size_t t = 0; t < wanted.targets.size(); ++t)
    add_sparse_density(result, all, t, "target_paths_" + wanted.targets[t], count_at, plan);
}

}  // namespace

export_image target_image(const result_volumes& result, const std::string& target, const std::string& file,
                          bool distance_corrected) {
  const std::string map = "seeds_to_" + target;
  export_image image = map_image(result, map, file);
  if (!distance_corrected) return image;
  image.needs = {{map, 1}, {map + "_lengths", 1}};
  image.make = [map](const image_source& r, const volume_sink& sink) {
    std::vector<float> sum = r.map(map);
    const std::vector<float> length = r.map(map + "_lengths");
    for (std::size_t v = 0; v < sum.size(); ++v) sum[v] *= length[v];
    sink(sum);
  };
  return image;
}

export_plan plan_probtrackx2_folder(const result_volumes& result, const probtrackx2_outputs& wanted) {
  export_plan plan;
  const constant* by_region = result.result().find_constant("connectome", "waytotal");
  const constant* total = result.result().find_constant("streamlines", "waytotal");
  if (total == nullptr) refuse_data("{}: has no waytotal, expected a result of track", result.result().path());
  if (wanted.densities.empty())  // like FSL
    plan.texts.push_back({"waytotal", matrix_text(by_region == nullptr ? *total : *by_region)});
  plan.texts.push_back({"probtrackx.log", result.result().provenance().value("command_line", "") + "\n"});
  if (!wanted.paths.empty())
    plan.files.push_back(
        {"saved_paths.txt", [from = wanted.paths](const std::string& path) { write_saved_paths(from, path); }});
  if (!wanted.densities.empty()) {
    if (wanted.density) add_seed_densities(result, wanted, plan);
    return plan;
  }
  if (wanted.density)
    plan.images.push_back(
        map_image(result, wanted.distance_corrected ? "length_sum" : "density", wanted.name + ".nii.gz"));
  if (wanted.directions) plan.images.push_back(map_image(result, "local_direction", wanted.name + "_localdir.nii.gz"));
  wanted.seed_files.empty() ? add_target_images(result, wanted, plan) : add_surface_targets(result, wanted, plan);
  add_target_texts(result, wanted, plan);
  add_target_densities(result, wanted, plan);
  if (wanted.lengths) plan.images.push_back(map_image(result, "mean_length", wanted.name + "_lengths.nii.gz"));
  if (const constant* counts = result.result().find_constant("connectome", "count"))
    plan.texts.push_back({"fdt_network_matrix", matrix_text(*counts)});
  const constant* lengths = result.result().find_constant("connectome", "mean_length_mm");
  if (lengths != nullptr && wanted.lengths) plan.texts.push_back({"fdt_network_matrix_lengths", matrix_text(*lengths)});
  return plan;
}

}  // namespace voxherd
