#include "src/export/matrix_models.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/failure.hpp"
#include "src/export/place_structures.hpp"

namespace voxherd {

namespace {

std::string describe_place(const grey_place& p) {
  return p.structure.empty() ? fmt::format("voxel {}", p.place) : fmt::format("vertex {} of {}", p.place, p.structure);
}

/// Greyordinates of seeds, one part per structure.
class model_builder {
 public:
  /// The number of a part, which is added if it is new. `vertices`: of its surface, 0 for voxels.
  std::size_t part(const std::string& structure, std::uint64_t vertices) {
    const auto [at, is_new] = number_.try_emplace({vertices > 0, structure}, g_.parts.size());
    if (is_new) g_.parts.push_back({structure, vertices, {}});
    if (g_.parts[at->second].surface_vertices != vertices)
      refuse_data("two surfaces of {} have {} and {} vertices; give them different --structures", structure,
                  g_.parts[at->second].surface_vertices, vertices);
    return at->second;
  }

  /// Surfaces stay in the order of their files, as FSL's rows; structures of voxels follow by name, as in HCP's files.
  void sort_volumes() {
    std::stable_sort(g_.parts.begin(), g_.parts.end(), [](const brain_part& a, const brain_part& b) {
      if (a.is_surface() != b.is_surface()) return a.is_surface();
      return !a.is_surface() && a.structure < b.structure;
    });
    for (std::size_t p = 0; p < g_.parts.size(); ++p) number_[{g_.parts[p].is_surface(), g_.parts[p].structure}] = p;
  }

  std::pair<std::size_t, std::uint64_t> add(const std::string& structure, std::uint64_t vertices, std::uint64_t place) {
    const grey_place p{vertices > 0 ? structure : "", place};
    if (!known_.insert(p).second)
      refuse_data("{} is a seed twice, in two files; remove it from one of them", describe_place(p));
    const std::size_t number = part(structure, vertices);
    g_.parts[number].places.push_back(place);
    return {number, g_.parts[number].size() - 1};
  }

  std::vector<std::uint64_t> first_positions() const {
    std::vector<std::uint64_t> first{0};
    for (const brain_part& p : g_.parts) first.push_back(first.back() + p.size());
    return first;
  }

  greyordinates finish(const image_grid& grid) {
    if (std::any_of(g_.parts.begin(), g_.parts.end(), [](const brain_part& p) { return !p.is_surface(); }))
      g_.grid = grid;
    return std::move(g_);
  }

 private:
  greyordinates g_;
  std::map<std::pair<bool, std::string>, std::size_t> number_;
  std::set<grey_place> known_;
};

/// Positions of greyordinates by place.
std::map<grey_place, std::uint32_t> list_positions(const greyordinates& g) {
  std::map<grey_place, std::uint32_t> positions;
  std::uint32_t next = 0;
  for (const brain_part& part : g.parts)
    for (const std::uint64_t place : part.places) positions[{part.is_surface() ? part.structure : "", place}] = next++;
  return positions;
}

}  // namespace

matrix_axis make_models(const matrix_places& places, const std::vector<std::string>& structures) {
  const structure_finder finder(places, structures);
  model_builder models;
  std::vector<std::pair<std::size_t, std::uint64_t>> at;  // part of each place, and number in it
  // First the parts in their order.
  for (std::size_t i = 0; i < places.size(); ++i) models.part(finder.find(i), places.files[places.file[i]].vertices);
  models.sort_volumes();
  for (std::size_t i = 0; i < places.size(); ++i)
    at.push_back(models.add(finder.find(i), places.files[places.file[i]].vertices, places.place[i]));
  matrix_axis axis{{}, {}};
  const std::vector<std::uint64_t> first = models.first_positions();
  for (const auto& [part, number] : at) axis.position.push_back(static_cast<std::uint32_t>(first[part] + number));
  axis.axis = models.finish(places.grid);
  return axis;
}

matrix_axis match_models(const matrix_places& places, const std::vector<std::string>& structures,
                         const std::string& path) {
  const cifti_file file = read_cifti(path);
  const auto* g = std::get_if<greyordinates>(&file.rows);
  if (g == nullptr) g = std::get_if<greyordinates>(&file.columns);
  if (g == nullptr) refuse_data("{}: has no brain models along rows or columns", path);
  const structure_finder finder(places, structures);
  for (const brain_part& part : g->parts) check_vertices(places, finder, part, path);
  matrix_axis axis{*g, find_positions(places, finder, list_positions(*g), g->grid)};
  report_outside(axis.position, path, "greyordinates");
  std::set<std::uint32_t> used;
  for (const std::uint32_t p : axis.position)
    if (p != no_position && !used.insert(p).second)
      refuse_data("{}: two seeds are greyordinate {}; remove one of them", path, p);
  return axis;
}

}  // namespace voxherd
