#include "src/analyses/common/regions.hpp"

#include <spdlog/spdlog.h>

#include <set>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "src/io/fingerprint.hpp"
#include "src/scan/label_image.hpp"
#include "src/scan/region_names.hpp"

namespace voxherd {

const option_table<item_region_request>& item_region_options() {
  using T = item_region_request;
  static const option_table<T> table = option_table<T>().group(
      "Input",
      {{"regions",
        &T::labels,
        text_kind::file,
        {"labels of regions, e.g. segments: `export --to csv` and the report of perfusion have quartiles of the "
         "maps in each, the report of noddi means weighted by tf"}},
       {"region-names",
        &T::names,
        text_kind::file,
        {.text = "names of the regions: one label and name per line", .needs = "regions"}}});
  return table;
}

item_regions read_item_regions(const item_region_request& request, const image_grid& grid,
                               const std::vector<std::uint64_t>& item_voxels) {
  item_regions found;
  const label_image image = read_labels(request.labels, grid, label_kind::labels);
  std::set<std::int32_t> inside;
  for (const std::uint64_t voxel : item_voxels) {
    found.labels.push_back(image.label[voxel]);
    if (image.label[voxel] > 0) inside.insert(image.label[voxel]);
  }
  if (inside.empty()) refuse_data("{}: none of its regions has a voxel in the mask", request.labels);
  if (inside.size() < image.values.size())
    spdlog::warn("{}: {} of its {} have no voxel in the mask", request.labels, image.values.size() - inside.size(),
                 counted(image.values.size(), "region"));
  found.files["regions"] = fingerprint(request.labels);
  if (request.names.empty()) return found;
  found.names = read_region_names(request.names, {inside.begin(), inside.end()});
  found.files["region_names"] = fingerprint(request.names);
  return found;
}

std::vector<constant> add_item_regions(const item_regions& regions, run_settings& how) {
  const std::vector<double>& labels = regions.labels;
  if (labels.empty()) return {};
  if (!regions.names.empty()) how.configuration["region-names"] = regions.names;
  how.provenance["inputs"].update(regions.files);
  return {{"label", {labels.size()}, labels, "1", "label of each item, 0 for none", "regions"}};
}

std::vector<constant> share_item_regions(const session& s, const item_region_request& request, const image_grid& grid,
                                         const std::vector<std::uint64_t>& item_voxels, run_settings& how) {
  if (request.labels.empty()) return {};
  return add_item_regions(s.from_root([&] { return read_item_regions(request, grid, item_voxels); }), how);
}

}  // namespace voxherd
