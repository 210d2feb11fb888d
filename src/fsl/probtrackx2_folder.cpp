#include "src/fsl/probtrackx2.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/failure.hpp"
#include "src/io/output_file.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

/// Null if the result has no such constant.
const constant* find_constant(const std::vector<constant>& all, const char* group, const char* name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const constant& c) { return c.group == group && c.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Writes the matrix in FSL's form: two spaces after each number.
std::string matrix_text(const constant& c) {
  const std::size_t columns = c.shape.size() < 2 ? 1 : c.shape.back();
  std::string text;
  for (std::size_t i = 0; i < c.values.size(); ++i)
    text += fmt::format("{}  {}", c.values[i], (i + 1) % columns == 0 ? "\n" : "");
  return text;
}

/// seeds_to_NAME, with distance correction times the mean length.
void add_target_images(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan) {
  const std::string end = "_lengths";
  for (const output_spec& o : result.result().outputs()) {
    const std::string& name = o.name;
    if (!name.starts_with("seeds_to_") || (name.ends_with(end) && !wanted.lengths)) continue;
    plan.images.push_back(map_image(result, name, name + ".nii.gz"));
    if (name.ends_with(end) || !wanted.distance_corrected) continue;
    plan.images.back().make = [name, end](const result_volumes& r, const volume_sink& sink) {
      std::vector<float> sum = r.map(name);
      const std::vector<float> length = r.map(name + end);
      for (std::size_t v = 0; v < sum.size(); ++v) sum[v] *= length[v];
      sink(sum);
    };
  }
}

/// matrix_seeds_to_all_targets, of the values in the images seeds_to_NAME.
void add_target_texts(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan) {
  if (!wanted.has_target_text) return;
  const std::size_t columns = wanted.targets.size();
  constant values, lengths;
  values.shape = lengths.shape = {wanted.seeds.size(), columns};
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
  plan.texts.push_back({"matrix_seeds_to_all_targets", matrix_text(values)});
  if (wanted.lengths) plan.texts.push_back({"matrix_seeds_to_all_targets_lengths", matrix_text(lengths)});
}

/// Writes each streamline as its number of points, then the points, in voxels of FSL's storage: the first half from the
/// seed on, then the second.
void write_saved_paths(const std::string& streamlines, const std::string& path) {
  const result_reader result(streamlines);
  const fsl_grid grid(result.grid());
  const grid_space space(grid);
  const std::vector<std::uint64_t>& offsets = result.point_offsets();
  const std::uint64_t count = offsets.size() - 1;
  const auto length = result.read_rows<float>("length", 0, count),
             first = result.read_rows<float>("first_half", 0, count);
  output_file file(path, output_file::coding::plain);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t points = offsets[i + 1] - offsets[i];
    const auto mm = result.read_rows<float>("position", offsets[i], points);
    // Points are at equal distances; the first half's are stored from its end to the seed.
    const auto seed =
        length[i] == 0 ? 0
                       : static_cast<std::uint64_t>(
                             std::lround(static_cast<double>(first[i] / length[i]) * static_cast<double>(points - 1)));
    std::vector<std::uint64_t> order;
    for (std::uint64_t p = seed + 1; seed > 0 && p-- > 0;) order.push_back(p);
    for (std::uint64_t p = seed; p < points && (seed == 0 || seed + 1 < points); ++p) order.push_back(p);
    std::string text = fmt::format("# {}\n", order.size());
    for (const std::uint64_t p : order) {
      const vector3 v = space.to_index(
          {static_cast<double>(mm[3 * p]), static_cast<double>(mm[3 * p + 1]), static_cast<double>(mm[3 * p + 2])});
      text += fmt::format("{:.6g} {:.6g} {:.6g}\n", v[0], v[1], v[2]);
    }
    file.write(text.data(), text.size());
  }
  file.finish();
}

/// Densities, the rows of a sparse matrix whose columns are voxels.
struct sparse_densities {
  explicit sparse_densities(const std::string& file) {
    const result_reader result(file);
    items = result.item_voxels();
    begin = result.point_offsets();
    for (const constant& c : result.constants())
      if (c.group == "matrix" && c.name == "column_voxel") voxels.assign(c.values.begin(), c.values.end());
    column = result.read_rows<std::uint32_t>("column", 0, begin.back());
    if (result.output("count").type == element_type::uint64) {
      count = read<std::uint64_t>(result, "count");
    } else {
      count = read<std::uint32_t>(result, "count");
    }
    if (result.has("length_sum")) length_sum = read<double>(result, "length_sum");
  }

  template <class T>
  std::vector<double> read(const result_reader& result, const char* name) const {
    const std::vector<T> values = result.read_rows<T>(name, 0, begin.back());
    return {values.begin(), values.end()};
  }

  /// An image of row `row`, zero if there is none.
  template <class Value>
  std::vector<float> volume(std::size_t row, std::size_t size, const Value& value) const {
    std::vector<float> image(size);
    if (row + 1 < begin.size())
      for (std::uint64_t i = begin[row]; i < begin[row + 1]; ++i)
        image[voxels[column[i]]] = static_cast<float>(value(*this, i));
    return image;
  }

  std::vector<std::uint64_t> items, begin, voxels;
  std::vector<std::uint32_t> column;
  std::vector<double> count, length_sum;
};

template <class Value>
void add_sparse_density(const result_volumes& result, const std::shared_ptr<sparse_densities>& all, std::size_t row,
                        const std::string& name, const Value& value, export_plan& plan) {
  plan.images.push_back(map_image(result, "density", name + ".nii.gz"));
  plan.images.back().make = [all, row, value](const result_volumes& r, const volume_sink& sink) {
    sink(all->volume(row, r.grid().voxel_count(), value));
  };
}

double count_at(const sparse_densities& d, std::uint64_t i) { return d.count[i]; }

/// NAME_X_Y_Z and NAME_X_Y_Z_lengths of each seed; zero where it has no samples.
void add_seed_densities(const result_volumes& result, const probtrackx2_outputs& wanted, export_plan& plan) {
  const auto sum = [](const sparse_densities& d, std::uint64_t i) { return d.length_sum[i]; };
  const auto mean = [](const sparse_densities& d, std::uint64_t i) { return d.length_sum[i] / d.count[i]; };
  const auto all = std::make_shared<sparse_densities>(wanted.densities);
  for (const std::uint64_t seed : wanted.seeds) {
    const vector3 at = voxel_position(result.grid(), seed);
    const std::string name = fmt::format("{}_{}_{}_{}", wanted.name, at[0], at[1], at[2]);
    const auto row =
        static_cast<std::size_t>(std::find(all->items.begin(), all->items.end(), seed) - all->items.begin());
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
  const auto all = std::make_shared<sparse_densities>(wanted.target_paths);
  for (std::size_t t = 0; t < wanted.targets.size(); ++t)
    add_sparse_density(result, all, t, "target_paths_" + wanted.targets[t], count_at, plan);
}

}  // namespace

export_plan plan_probtrackx2_folder(const result_volumes& result, const probtrackx2_outputs& wanted) {
  export_plan plan;
  const std::vector<constant> constants = result.result().constants();
  const constant* by_region = find_constant(constants, "connectome", "waytotal");
  const constant* total = find_constant(constants, "streamlines", "waytotal");
  if (total == nullptr)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: has no waytotal, expected a result of track", result.result().path()));
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
  add_target_images(result, wanted, plan);
  add_target_texts(result, wanted, plan);
  add_target_densities(result, wanted, plan);
  if (wanted.lengths) plan.images.push_back(map_image(result, "mean_length", wanted.name + "_lengths.nii.gz"));
  if (const constant* counts = find_constant(constants, "connectome", "count"))
    plan.texts.push_back({"fdt_network_matrix", matrix_text(*counts)});
  const constant* lengths = find_constant(constants, "connectome", "mean_length_mm");
  if (lengths != nullptr && wanted.lengths) plan.texts.push_back({"fdt_network_matrix_lengths", matrix_text(*lengths)});
  return plan;
}

}  // namespace voxherd
