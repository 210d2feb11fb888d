#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/number_text.hpp"
#include "core/text.hpp"
#include "src/commands/path_statistics.hpp"
#include "src/export/connectome_text.hpp"
#include "src/export/export_plan.hpp"
#include "src/export/fibres.hpp"
#include "src/export/region_table.hpp"
#include "src/show/draft.hpp"

namespace voxherd {

namespace {

constexpr std::string_view density_prefix = "density_";

/// The numbers of streamlines of each tract. `name`: "started" or "waytotal".
std::vector<double> tract_numbers(const result_reader& result, const char* name, std::size_t tracts) {
  for (const char* group : {"streamlines", "tracts"})
    if (const constant* c = result.find_constant(group, name); c != nullptr && c->values.size() == tracts)
      return c->values;
  refuse_data("{}: has no numbers {} of its {}, expected a result of track", result.path(), name,
              counted(tracts, "density map"));
}

/// Outputs with the density of a tract, in the order of their numbers in /tracts.
std::vector<std::string> density_outputs(const result_reader& result) {
  std::vector<std::string> names;
  for (const output_spec& o : result.outputs())
    if (o.layout == output_layout::volume && (o.name == "density" || o.name.starts_with(density_prefix)))
      names.push_back(o.name);
  return names;
}

/// One line per tract: its streamlines, its volume above the threshold, and the mean and median of each image there,
/// weighted by the density.
std::string tract_table(const result_volumes& volumes, const std::vector<statistic_image>& images, double threshold) {
  const result_reader& result = volumes.result();
  const std::vector<std::string> densities = density_outputs(result);
  const std::vector<double> started = tract_numbers(result, "started", densities.size()),
                            waytotal = tract_numbers(result, "waytotal", densities.size());
  std::string text = "tract,started,waytotal,voxels,volume_mm3";
  for (const statistic_image& image : images)
    text += fmt::format(",{},{}", csv_cell("mean_" + image.name()), csv_cell("median_" + image.name()));
  text += '\n';
  for (std::size_t t = 0; t < densities.size(); ++t) {
    const std::string& output = densities[t];
    const bool has_name = output.starts_with(density_prefix);
    const tract_voxels tract(result.grid(), volumes.map(output), threshold * waytotal[t]);
    text += fmt::format("{},{},{},{},{}", csv_cell(has_name ? output.substr(density_prefix.size()) : output),
                        number_text(started[t]), number_text(waytotal[t]), tract.count(),
                        matrix_number(tract.volume_mm3()));
    for (const statistic_image& image : images) {
      const weighted_values values = tract.sample(image);
      text += fmt::format(",{},{}", matrix_number(values.mean()), matrix_number(values.median()));
    }
    text += '\n';
  }
  return text;
}

/// The labels of rows and columns: those of the result's connectome, or of the one whose paths it has, else those that
/// occur.
std::vector<std::int32_t> matrix_labels(const result_reader& result, const std::vector<path_row>& paths) {
  std::vector<std::int32_t> labels = node_labels(result);
  if (labels.empty()) labels = result.constant_labels("regions", "labels");
  if (!labels.empty()) return labels;
  for (const path_row& path : paths) labels.insert(labels.end(), path.regions.begin(), path.regions.end());
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

/// For each pair of regions the mean of the paths' means of image number `image`; NaN without paths.
constant mean_matrix(const std::vector<path_row>& paths, const std::vector<std::int32_t>& labels, std::size_t image,
                     bool is_directed) {
  const std::size_t n = labels.size();
  std::vector<double> sum(n * n);
  std::vector<std::uint64_t> count(n * n);
  const auto index_of = [&](std::int32_t label) {
    const auto found = std::lower_bound(labels.begin(), labels.end(), label);
    return found != labels.end() && *found == label ? static_cast<std::size_t>(found - labels.begin()) : n;
  };
  for (const path_row& path : paths) {
    const std::size_t from = index_of(path.regions[0]), to = index_of(path.regions[1]);
    if (from == n || to == n || std::isnan(path.means[image])) continue;
    sum[from * n + to] += path.means[image], ++count[from * n + to];
    if (is_directed || from == to) continue;
    sum[to * n + from] += path.means[image], ++count[to * n + from];
  }
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] = count[i] > 0 ? sum[i] / static_cast<double>(count[i]) : std::numeric_limits<double>::quiet_NaN();
  return {"mean", {n, n}, std::move(sum), "", "", ""};
}

void add_path_texts(const result_reader& result, const std::vector<statistic_image>& images, export_plan& plan) {
  const path_table table = measure_paths(result, images);
  std::string text = table.has_regions ? "path,from,to,length_mm" : "path,length_mm";
  for (const statistic_image& image : images) text += "," + csv_cell("mean_" + image.name());
  text += '\n';
  for (const path_row& path : table.rows) {
    text += std::to_string(path.number + 1);
    if (table.has_regions) text += fmt::format(",{},{}", path.regions[0], path.regions[1]);
    text += "," + matrix_number(path.length_mm);
    for (const double mean : path.means) text += "," + matrix_number(mean);
    text += '\n';
  }
  plan.texts.push_back({"paths.csv", text});
  if (!table.has_regions) return;
  const std::vector<std::int32_t> labels = matrix_labels(result, table.rows);
  region_name_list names = given_region_names(result);
  if (names.size() != labels.size()) names.clear();
  if (node_labels(result).empty() && names.empty())
    for (const std::int32_t label : labels) names.push_back(std::to_string(label));
  const bool is_directed = table.has_halves || (!labels.empty() && labels.front() == 0);
  for (std::size_t i = 0; i < images.size(); ++i)
    plan.texts.push_back({fmt::format("mean_{}.csv", images[i].name()),
                          matrix_csv(mean_matrix(table.rows, labels, i, is_directed), names)});
}

void add_connectome_texts(const result_reader& result, export_plan& plan) {
  const region_name_list regions = given_region_names(result);
  for (const constant& c : result.constants()) {
    if (c.group != "connectome") continue;
    if (c.name == "labels") plan.texts.push_back({"nodes.tsv", node_table(result, regions)});
    if (!is_region_matrix(result, c)) continue;
    check_region_names(result, regions, c.shape[0]);
    plan.texts.push_back({c.name + ".csv", matrix_csv(c, regions)});
  }
}

/// The matrices of the result's connectome as NAME.csv with nodes.tsv, which describes rows and columns; quartiles of
/// maps in regions; a table of tracts; and with images, tables of paths and matrices of means.
export_plan plan_csv_folder(const result_volumes& volumes, const export_settings& settings) {
  const result_reader& result = volumes.result();
  const bool has_tracts = !density_outputs(result).empty(), has_paths = has_fibres(result);
  if (!settings.statistics_of.empty() && !has_tracts && !has_paths)
    refuse_data(
        "--statistics-of: {} is a result of {} without tracts or paths, expected one of track, or paths of connect or "
        "geodesic",
        result.path(), result.analysis_name());
  const std::vector<statistic_image> images = read_statistic_images(settings.statistics_of);
  export_plan plan;
  add_connectome_texts(result, plan);
  if (has_regions(result))
    plan.texts.push_back({"regions.csv", region_table(find_region_values(result, find_fitted_voxels(result)))});
  if (has_tracts && (plan.texts.empty() || !images.empty()))
    plan.texts.push_back({"tracts.csv", tract_table(volumes, images, settings.tract_threshold)});
  if (has_paths && !images.empty()) add_path_texts(result, images, plan);
  if (plan.texts.empty())
    refuse_data(
        "{}: is a result of {} without a connectome or regions; run connect or geodesic with --connectome LABELS, or "
        "perfusion with --regions LABELS{}",
        result.path(), result.analysis_name(),
        has_paths ? "; or give --statistics-of IMAGE for means along its paths" : "");
  for (std::size_t i = 0; i < plan.texts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (plan.texts[i].name == plan.texts[j].name)
        refuse_usage("--statistics-of: {} would be written twice; rename the image", plan.texts[i].name);
  return plan;
}

void export_csv(session& s, const export_settings& settings) {
  export_folder(s, settings, [&](const result_volumes& volumes) { return plan_csv_folder(volumes, settings); });
}

}  // namespace

extern const export_kind csv_export{
    "csv", "DIR", "the connectome's matrices, quartiles of maps in regions, and statistics of tracts and paths", false,
    export_csv};

}  // namespace voxherd
