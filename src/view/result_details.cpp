#include "src/view/result_details.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "core/failure.hpp"
#include "src/export/fibres.hpp"
#include "src/scan/grid_space.hpp"
#include "src/show/analysis_views.hpp"
#include "src/view/answers.hpp"
#include "src/view/streamlines.hpp"

namespace voxherd::view {

namespace {

constexpr std::string_view voxel_address = "/api/voxel/", matrix_address = "/api/matrix/",
                           streamline_address = "/api/streamlines/", ray_address = "/api/rays/",
                           traced_address = "/api/traced/", choice_address = "/api/streamlines",
                           trx_address = "/api/streamlines/trx", surface_address = "/api/surface/";

using nlohmann::json;

bool has_voxel_panel(const result_reader& r) { return *find_views(r).viewer.voxel_kind != 0; }

json describe_map(const vertex_map& m) {
  json j{{"name", m.name}, {"unit", m.unit}, {"meaning", m.meaning}, {"none", m.none}};
  for (const auto& [label, name] : m.names) j["names"][std::to_string(label)] = name;
  return j;
}

/// Name, number of vertices and maps of each surface, or why it cannot be shown. Null without surfaces.
json describe_surfaces(const std::vector<shown_surface>& surfaces) {
  if (surfaces.empty()) return nullptr;
  json list = json::array();
  for (const shown_surface& s : surfaces) {
    json maps = json::array();
    for (const vertex_map& m : s.maps) maps.push_back(describe_map(m));
    list.push_back(
        {{"name", s.name}, {"why_not", s.why_not}, {"vertices", s.mesh.points_mm.size()}, {"maps", std::move(maps)}});
  }
  return list;
}

std::vector<std::uint64_t> voxels_of(const surface& mesh, const image_grid& grid) {
  const grid_space space(grid);
  std::vector<std::uint64_t> voxels;
  for (const auto& [x, y, z] : mesh.points_mm)
    if (const auto voxel =
            find_voxel(grid, space.to_index({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)})))
      voxels.push_back(*voxel);
  return voxels;
}

/// `place`: "N" for the mesh of a surface, a block with points (mm) and triangles; "N/K" for its map K, a block with
/// one number per vertex, not a number where there is none. Throws failure (usage) if there is none.
std::string send_surface(const std::vector<shown_surface>& surfaces, std::string_view place) {
  const std::size_t slash = std::min(place.find('/'), place.size());
  const auto number = find_number(place.substr(0, slash), surfaces.size());
  if (!number || !surfaces[*number].why_not.empty()) refuse_usage("there is no such surface");
  const shown_surface& s = surfaces[*number];
  if (slash < place.size()) {
    const auto map = find_number(place.substr(slash + 1), s.maps.size());
    if (!map) refuse_usage("the surface has no such map");
    const vertex_map& m = s.maps[*map];
    std::string block = begin_block({{"vertices", s.mesh.points_mm.size()}, {"labels", !m.labels.empty()}});
    m.labels.empty() ? append(block, m.values) : append(block, m.labels);
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

}  // namespace

result_details::result_details(const shown_data& data, const page_grid& grid, const label_image* regions,
                               const std::map<std::int32_t, std::string>& names, ray_panel* rays)
    : data_(data), grid_(grid), rays_(rays), surfaces_(data.read_surfaces()) {
  const result_reader* r = data.result();
  if (r != nullptr && has_streamlines(*r)) fibres_.emplace(*r, regions, names);
}

json result_details::describe() const {
  const result_reader* r = data_.result();
  if (r == nullptr)
    return {{"voxel", ""}, {"matrices", nullptr}, {"streamlines", nullptr}, {"surfaces", describe_surfaces(surfaces_)}};
  json j{{"voxel", find_views(*r).viewer.voxel_kind},
         {"matrices", describe_matrices(*r)},
         {"streamlines", describe_streamlines(*r)},
         {"surfaces", describe_surfaces(surfaces_)}};
  if (!fibres_) return j;
  j["streamlines"]["groupings"] = describe_groupings(fibres_->groupings());
  j["streamlines"]["can_trace"] = rays_ != nullptr;
  return j;
}

std::array<std::uint64_t, 3> result_details::first_place() const {
  const result_reader* r = data_.result();
  if (!data_.has_image()) return grid_.middle_of(voxels_of(surfaces_.front().mesh, data_.grid()));
  if (r == nullptr || !has_voxel_panel(*r)) return grid_.middle_of({});
  return grid_.middle_of(r->image_voxels());
}

http_answer result_details::describe_voxel(std::uint64_t voxel) {
  const result_reader& r = *data_.result();
  if (!voxels_) voxels_ = find_views(r).viewer.make_voxel_panel(r, grid_.view());
  return json_answer(voxels_->describe(grid_.in_file(voxel)));
}

http_answer result_details::save_trx(const fibre_choice& choice) {
  constexpr std::uint64_t max_points = 20'000'000;
  const result_fibres chosen(*data_.result(), fibres_->choose(choice));
  if (chosen.points() > max_points)
    refuse_data("{} points are more than the {} that the page saves; use voxherd export, or choose fewer paths",
                chosen.points(), max_points);
  return binary_answer(make_trx(chosen));
}

http_answer result_details::trace_rays(std::uint64_t voxel) {
  if (rays_ == nullptr) return not_found("only rays of geodesic can be traced");
  return binary_answer(rays_->trace(grid_.in_file(voxel), static_cast<std::uint32_t>(voxel)));
}

std::optional<http_answer> result_details::answer_post(const http_request& request) {
  if (!fibres_) return std::nullopt;
  if (request.target == choice_address) {
    const fibre_choice choice = parse_fibre_choice(request.body);
    return binary_answer(send_streamlines(*data_.result(), grid_, fibres_->choose(choice),
                                          choice.count == 0 ? max_streamlines : choice.count));
  }
  if (request.target == trx_address) return save_trx(parse_fibre_choice(request.body));
  return std::nullopt;
}

std::optional<http_answer> result_details::answer_get(const std::string& target) {
  const result_reader& r = *data_.result();
  const std::uint64_t voxels = grid_.grid().voxel_count();
  if (target.starts_with(voxel_address) && has_voxel_panel(r))
    return describe_voxel(number_after(target, voxel_address, voxels));
  if (target.starts_with(matrix_address))
    return binary_answer(send_matrix(r, number_after(target, matrix_address, max_matrix_regions)));
  if (!fibres_) return std::nullopt;
  if (target.starts_with(streamline_address))
    return binary_answer(
        send_streamlines(r, grid_, fibres_->fibres(), number_after(target, streamline_address, max_streamlines + 1)));
  if (target.starts_with(ray_address))
    return binary_answer(send_rays(r, grid_, grid_.in_file(number_after(target, ray_address, voxels))));
  if (target.starts_with(traced_address)) return trace_rays(number_after(target, traced_address, voxels));
  return std::nullopt;
}

std::optional<http_answer> result_details::answer(const http_request& request) {
  if (request.method == "GET" && request.target.starts_with(surface_address))
    return binary_answer(send_surface(surfaces_, std::string_view(request.target).substr(surface_address.size())));
  if (data_.result() == nullptr) return std::nullopt;
  return request.method == "GET" ? answer_get(request.target) : answer_post(request);
}

namespace {

std::vector<std::int32_t> find_labels(const result_reader& r) { return r.constant_labels("connectome", "labels"); }

std::vector<const constant*> find_matrices(const result_reader& r) {
  const std::uint64_t n = find_labels(r).size();
  std::vector<const constant*> found;
  for (const constant& c : r.constants())
    if (n > 0 && c.group == "connectome" && c.shape == std::vector<std::uint64_t>{n, n}) found.push_back(&c);
  // What most people look for comes first.
  for (const char* name : {"cost", "count"})
    std::stable_partition(found.begin(), found.end(), [&](const constant* c) { return c->name == name; });
  return found;
}

}  // namespace

std::map<std::int32_t, std::string> stored_region_names(const result_reader& r) {
  std::map<std::int32_t, std::string> names;
  const std::vector<std::int32_t> labels = find_labels(r);
  const json& c = r.configuration();
  if (!c.is_object() || !c.contains("region-names") || c.at("region-names").size() != labels.size()) return names;
  for (std::size_t i = 0; i < labels.size(); ++i) names[labels[i]] = c.at("region-names").at(i).get<std::string>();
  return names;
}

json describe_matrices(const result_reader& r) {
  const std::vector<const constant*> found = find_matrices(r);
  const std::vector<std::int32_t> labels = find_labels(r);
  if (found.empty()) return nullptr;
  const auto names = stored_region_names(r);
  json j{{"labels", labels}, {"names", json::array()}, {"matrices", json::array()}};
  for (const std::int32_t label : labels)
    j["names"].push_back(names.contains(label) ? names.at(label)
                         : label == 0          ? std::string("no region")
                                               : fmt::format("region {}", label));
  for (const constant* c : found) {
    // Where a small value is best, no connection is infinite; elsewhere it is 0.
    const bool small_is_best = c->name.ends_with("cost");
    j["matrices"].push_back(
        {{"name", c->name}, {"unit", c->unit}, {"meaning", c->meaning}, {"small_is_best", small_is_best}});
  }
  return j;
}

std::string send_matrix(const result_reader& r, std::uint64_t number) {
  const std::vector<const constant*> found = find_matrices(r);
  if (number >= found.size()) refuse_usage("there is no such matrix");
  const constant& c = *found[number];
  if (c.shape[0] > max_matrix_regions)
    refuse_data("{} has {} regions, more than the {} that the page shows; `voxherd export` writes it", c.name,
                c.shape[0], max_matrix_regions);
  std::string block = begin_block({{"regions", c.shape[0]}});
  append(block, std::vector<float>(c.values.begin(), c.values.end()));
  return block;
}

}  // namespace voxherd::view
