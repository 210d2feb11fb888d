#include "src/view/surfaces.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/failure.hpp"
#include "src/view/answers.hpp"

namespace voxherd::view {

using nlohmann::json;

json describe_surfaces(const std::vector<shown_surface>& surfaces) {
  if (surfaces.empty()) return nullptr;
  json list = json::array();
  for (const shown_surface& s : surfaces) {
    json maps = json::array();
    for (const vertex_map& m : s.maps)
      maps.push_back({{"name", m.name}, {"unit", m.unit}, {"meaning", m.meaning}, {"none", m.none}});
    list.push_back(
        {{"name", s.name}, {"why_not", s.why_not}, {"vertices", s.mesh.points_mm.size()}, {"maps", std::move(maps)}});
  }
  return list;
}

std::string send_surface(const std::vector<shown_surface>& surfaces, std::string_view place) {
  const std::size_t slash = std::min(place.find('/'), place.size());
  const auto number = find_number(place.substr(0, slash), surfaces.size());
  if (!number || !surfaces[*number].why_not.empty()) throw failure(exit_status::usage, "there is no such surface");
  const shown_surface& s = surfaces[*number];
  if (slash < place.size()) {
    const auto map = find_number(place.substr(slash + 1), s.maps.size());
    if (!map) throw failure(exit_status::usage, "the surface has no such map");
    std::string block = begin_block({{"vertices", s.mesh.points_mm.size()}});
    append(block, s.maps[*map].values);
    return block;
  }
  std::string block = begin_block({{"vertices", s.mesh.points_mm.size()}, {"triangles", s.mesh.triangles.size()}});
  std::vector<float> points;
  for (const auto& p : s.mesh.points_mm) points.insert(points.end(), p.begin(), p.end());
  append(block, points);
  std::vector<std::uint32_t> corners;
  for (const auto& t : s.mesh.triangles) corners.insert(corners.end(), t.begin(), t.end());
  append(block, corners);
  return block;
}

}  // namespace voxherd::view
