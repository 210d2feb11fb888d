#include "src/export/region_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "core/escape.hpp"
#include "src/export/connectome_text.hpp"

namespace voxherd {

namespace {

/// Voxels by label.
using region_voxels = std::map<std::int32_t, std::vector<std::uint64_t>>;

bool has_item_labels(const result_reader& r) {
  const constant* labels = r.find_constant("regions", "label");
  return labels != nullptr && labels->values.size() == r.item_voxels().size();
}

region_voxels find_regions(const result_reader& r, const std::vector<std::uint64_t>& fitted) {
  region_voxels regions;
  if (!has_item_labels(r)) return regions;
  const std::vector<std::int32_t> labels = r.constant_labels("regions", "label");
  const std::vector<std::uint64_t>& all = r.image_voxels();
  std::vector<bool> is_fitted(r.grid().voxel_count());
  for (const std::uint64_t voxel : fitted) is_fitted[voxel] = true;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == 0) continue;
    std::vector<std::uint64_t>& voxels = regions[labels[i]];
    if (is_fitted[all[i]]) voxels.push_back(all[i]);
  }
  return regions;
}

/// `sorted` is not empty.
double quantile(const std::vector<float>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto first = static_cast<double>(sorted[below]);
  if (below + 1 == sorted.size()) return first;
  return first + (place - std::floor(place)) * (static_cast<double>(sorted[below + 1]) - first);
}

void add_quartiles(const std::vector<float>& map, const std::vector<std::uint64_t>& voxels, region_values& found) {
  std::vector<float> values;
  for (const std::uint64_t voxel : voxels)
    if (std::isfinite(map[voxel])) values.push_back(map[voxel]);
  found.voxels = values.size();
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  found.lower_quartile = quantile(values, 0.25);
  found.median = quantile(values, 0.5);
  found.upper_quartile = quantile(values, 0.75);
}

}  // namespace

bool has_regions(const result_reader& r) { return has_item_labels(r); }

std::vector<region_values> find_region_values(const result_reader& r, const std::vector<std::uint64_t>& fitted) {
  const region_voxels regions = find_regions(r, fitted);
  const region_name_list names = given_region_names(r);
  std::vector<region_values> list;
  if (regions.empty()) return list;
  std::vector<std::pair<const output_spec*, std::vector<float>>> maps;
  for (const output_spec& o : r.outputs())
    if (o.layout == output_layout::volume && o.shape.empty() && o.type == element_type::float32)
      maps.emplace_back(&o, r.read_map(o.name));
  std::size_t number = 0;
  for (const auto& [label, voxels] : regions) {
    const std::string name = number < names.size() ? names[number] : std::to_string(label);
    ++number;
    for (const auto& [output, values] : maps) {
      list.push_back({label, name, output->name, output->unit});
      add_quartiles(values, voxels, list.back());
    }
  }
  return list;
}

std::vector<std::uint64_t> find_fitted_voxels(const result_reader& r) {
  if (!r.has("status")) return r.image_voxels();
  const std::vector<float> status = r.read_map("status", 1);
  std::vector<std::uint64_t> fitted;
  for (const std::uint64_t voxel : r.image_voxels())
    if (status[voxel] == 0) fitted.push_back(voxel);
  return fitted;
}

std::string region_table(const std::vector<region_values>& list) {
  std::string text = "label,name,map,unit,voxels,lower_quartile,median,upper_quartile\n";
  for (const region_values& v : list) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}", v.label, csv_cell(v.name), csv_cell(v.map),
                   csv_cell(v.unit), v.voxels);
    text +=
        v.voxels == 0 ? ",,,\n" : fmt::format(",{:.6g},{:.6g},{:.6g}\n", v.lower_quartile, v.median, v.upper_quartile);
  }
  return text;
}

}  // namespace voxherd
