#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "core/failure.hpp"
#include "src/export/matrix_models.hpp"
#include "src/export/place_structures.hpp"
#include "src/io/label_limits.hpp"
#include "src/io/nifti/nifti_format.hpp"
#include "src/io/surfaces/surfaces.hpp"

namespace voxherd {

namespace {

/// Parcels by name, with their parts.
class parcel_builder {
 public:
  void add(const std::string& name, const std::string& structure, std::uint64_t vertices, std::uint64_t place) {
    const auto [at, is_new] = number_.try_emplace(name, static_cast<std::uint32_t>(list_.parcels.size()));
    if (is_new) list_.parcels.push_back({name, {}});
    std::vector<brain_part>& parts = list_.parcels[at->second].parts;
    auto part = std::find_if(parts.begin(), parts.end(), [&](const brain_part& p) {
      return p.is_surface() == (vertices > 0) && (vertices == 0 || p.structure == structure);
    });
    if (part == parts.end()) part = parts.insert(parts.end(), {structure, vertices, {}});
    part->places.push_back(place);
    position_[{vertices > 0 ? structure : "", place}] = at->second;
  }
  parcel_list& list() { return list_; }
  const std::map<grey_place, std::uint32_t>& positions() const { return position_; }

 private:
  parcel_list list_;
  std::unordered_map<std::string, std::uint32_t> number_;
  std::map<grey_place, std::uint32_t> position_;
};

std::string label_name(const std::map<std::int32_t, std::string>& names, std::int32_t key) {
  const auto at = names.find(key);
  return at == names.end() ? std::to_string(key) : at->second;
}

/// Labels of the same name in one file are one parcel.
void warn_of_equal_names(const std::map<std::int32_t, std::string>& used, const std::string& path) {
  std::map<std::string, std::int32_t> key_of;
  for (const auto& [key, name] : used)
    if (const auto [first, is_new] = key_of.try_emplace(name, key); !is_new)
      spdlog::warn("{}: the labels {} and {} are both called '{}': they are one parcel", path, first->second, key,
                   name);
}

/// A key of a label, which may be negative in Workbench's files. `is_float32`: the file's values are.
std::int32_t to_key(double value, bool is_float32, const std::string& path) {
  const std::int32_t largest = is_float32 ? largest_float_label : largest_label;
  const double key = std::round(value);
  if (!(std::abs(key) <= static_cast<double>(largest)))
    refuse_data("{}: has the label {}, expected integers up to {}{}", path, value, largest,
                is_float32 ? " in float32, which rounds larger ones; store them as int32" : "");
  return static_cast<std::int32_t>(key);
}

void add_dense_labels(const std::string& path, parcel_builder& parcels) {
  const cifti_file file = read_cifti(path);
  const auto* g = std::get_if<greyordinates>(&file.rows);
  const auto* maps = std::get_if<named_maps>(&file.columns);
  if (g == nullptr || maps == nullptr || maps->names.empty())
    refuse_data("{}: expected maps of labels of greyordinates (.dlabel.nii)", path);
  if (maps->names.size() > 1) spdlog::warn("{}: has {} maps, of which the first is used", path, maps->names.size());
  const std::vector<double> keys = read_cifti_column(file, 0);
  if (g->grid) parcels.list().grid = g->grid;
  std::size_t row = 0;
  std::map<std::int32_t, std::string> used;
  for (const brain_part& part : g->parts)
    for (const std::uint64_t place : part.places)
      if (const std::int32_t key = to_key(keys[row++], file.datatype == float32_datatype, path); key != 0) {
        used[key] = label_name(maps->labels.front(), key);
        parcels.add(used[key], part.structure, part.surface_vertices, place);
      }
  warn_of_equal_names(used, path);
}

/// A .label.gii file.
struct label_surface {
  std::string structure;
  std::vector<std::int32_t> keys;             ///< of each vertex
  std::map<std::int32_t, std::string> names;  ///< of the keys that are used, without 0 and "???"
};

label_surface read_label_surface(const std::string& path) {
  const surface_values labels = read_surface_values(path);
  if (!is_cifti_structure(labels.structure))
    refuse_data(
        "{}: does not state its structure (AnatomicalStructurePrimary); set it with `wb_command -set-structure`", path);
  std::map<std::int32_t, std::string> table;
  for (const surface_label& label : labels.labels) table[label.key] = label.name;
  label_surface s{labels.structure, {}, {}};
  for (const double value : labels.arrays.front().values) {
    s.keys.push_back(to_key(value, labels.arrays.front().has_rounded_values, path));
    if (const std::string name = label_name(table, s.keys.back()); s.keys.back() != 0 && name != "???")
      s.names[s.keys.back()] = name;
  }
  warn_of_equal_names(s.names, path);
  return s;
}

/// Names that both hemispheres have are two parcels: CORTEX_LEFT_V1, CORTEX_RIGHT_V1.
void add_surface_labels(const std::vector<std::string>& paths, parcel_builder& parcels) {
  std::vector<label_surface> surfaces;
  std::map<std::string, int> used;
  for (const std::string& path : paths) {
    surfaces.push_back(read_label_surface(path));
    std::set<std::string> names;
    for (const auto& [key, name] : surfaces.back().names) names.insert(name);
    for (const std::string& name : names) ++used[name];
  }
  for (const label_surface& s : surfaces)
    for (std::size_t v = 0; v < s.keys.size(); ++v)
      if (const auto name = s.names.find(s.keys[v]); name != s.names.end())
        parcels.add(used[name->second] > 1 ? s.structure + "_" + name->second : name->second, s.structure,
                    s.keys.size(), v);
}

}  // namespace

matrix_axis make_parcels(const matrix_places& places, const std::vector<std::string>& structures,
                         const std::vector<std::string>& paths) {
  parcel_builder parcels;
  const bool are_surfaces = std::all_of(paths.begin(), paths.end(), [](const std::string& path) {
    return path.ends_with(".gii") || path.ends_with(".gii.gz");
  });
  if (!are_surfaces && paths.size() > 1) refuse_usage("--parcels: expected one .dlabel.nii, or .label.gii files");
  if (are_surfaces) {
    add_surface_labels(paths, parcels);
  } else {
    add_dense_labels(paths.front(), parcels);
  }
  if (parcels.list().parcels.empty()) refuse_data("--parcels: {} has no labels but 0", paths.front());
  const structure_finder finder(places, structures);
  for (const brain_parcel& parcel : parcels.list().parcels)
    for (const brain_part& part : parcel.parts) check_vertices(places, finder, part, paths.front());
  matrix_axis axis{{}, find_positions(places, finder, parcels.positions(), parcels.list().grid)};
  report_outside(axis.position, paths.front(), "parcels");
  axis.axis = std::move(parcels.list());
  return axis;
}

}  // namespace voxherd
