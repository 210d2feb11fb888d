#include "src/show/surfaces.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/escape.hpp"
#include "core/text.hpp"
#include "src/show/chart.hpp"
#include "src/show/mesh_drawing.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

constexpr colour without_value{175, 175, 175}, zero{80, 80, 80};

/// A surface and the map of it that a figure shows.
struct mapped_surface {
  const shown_surface& surface;
  const vertex_map& map;
};

std::vector<mesh_side> choose_sides(const std::string& structure, const grid_view& view) {
  constexpr mesh_side left_side{"from the left", 1, 2, -1}, right_side{"from the right", 1, 2, 1};
  constexpr mesh_side above{"from above", 0, 1, 1}, below{"from below", 0, 1, -1};
  const auto named = [](mesh_side side, const char* name) { return side.name = name, side; };
  if (structure == "CORTEX_LEFT")
    return {named(left_side, "lateral, from the left"), named(right_side, "medial, from the right")};
  if (structure == "CORTEX_RIGHT")
    return {named(right_side, "lateral, from the right"), named(left_side, "medial, from the left")};
  return {left_side, right_side, view.is_radiological() ? below : above};
}

std::string letter_marks(const mesh_side& side, const grid_view& view) {
  auto ends = view.letters(side.across);
  const bool is_mirrored = side.across == 0 && view.is_radiological();  // the view's axis, not the world's
  if ((side.sign < 0) != is_mirrored) std::swap(ends[0], ends[1]);
  return side_marks(ends);
}

/// Colours of a map: between three vertices with values they follow the mean of these, else the nearest one.
mesh_colours colours_of(const vertex_map& map, const colour_range& range) {
  return [&map, &range](const std::array<std::uint32_t, 3>& corners, const std::array<double, 3>& w) {
    double mean = 0;
    for (std::size_t k = 0; k < 3; ++k) mean += w[k] * static_cast<double>(map.values[corners[k]]);
    if (std::isnan(mean)) {
      const auto nearest = static_cast<std::size_t>(std::max_element(w.begin(), w.end()) - w.begin());
      mean = static_cast<double>(map.values[corners[nearest]]);
    }
    if (std::isnan(mean)) return without_value;
    return mean == 0 ? zero : range.at(mean);
  };
}

/// The figure's pictures of a surface; adds where they are in the world to `numbers`.
std::string draw_surface(const mapped_surface& shown, const colour_range& range, const grid_view& view,
                         nlohmann::json& numbers) {
  constexpr std::size_t longest = 320;
  constexpr const char* axes[] = {"x", "y", "z"};
  std::string html;
  for (const mesh_side& side : choose_sides(shown.surface.mesh.structure, view)) {
    const mesh_picture p = draw_mesh(shown.surface.mesh, side, longest, colours_of(shown.map, range));
    html += fmt::format(
        "<div style=\"width:100%\">{}<p class=\"legend\">{}: {}</p></div>\n",
        image_markup(p.image, fmt::format("{} on {} seen {}.", shown.map.name, shown.surface.name, side.name), 1, true,
                     true, letter_marks(side, view)),
        html_text(shown.surface.name), side.name);
    numbers.push_back({{"surface", shown.surface.name},
                       {"seen", side.name},
                       {"across", fmt::format("{}{}", side.sign < 0 ? "-" : "", axes[side.across])},
                       {"up", axes[side.up]},
                       {"left_mm", p.left_mm},
                       {"top_mm", p.top_mm},
                       {"mm_per_pixel", p.mm_per_pixel}});
  }
  return html;
}

std::vector<float> with_values(const vertex_map& map) {
  std::vector<float> values = map.values;
  std::erase_if(values, [](float v) { return std::isnan(v); });
  return values;
}

table describe_maps(const std::vector<mapped_surface>& shown) {
  const vertex_map& first = shown.front().map;
  table t{first.name + " on surfaces",
          {"surface", "vertices", "with a value", "not 0", with_unit("median", first.unit),
           with_unit("largest", first.unit), "at vertex"},
          {}};
  for (const auto& [surface, map] : shown) {
    const std::vector<float> values = with_values(map);
    const auto zeros = static_cast<std::size_t>(std::count(values.begin(), values.end(), 0.0f));
    std::vector<std::string> row{surface.name, std::to_string(map.values.size()), std::to_string(values.size()),
                                 std::to_string(values.size() - zeros)};
    if (!values.empty()) {
      const float largest = *std::max_element(values.begin(), values.end());
      const auto at = std::find(map.values.begin(), map.values.end(), largest) - map.values.begin();
      row.insert(row.end(), {number_text(describe_values(values).median), number_text(static_cast<double>(largest)),
                             std::to_string(at)});
    }
    row.resize(t.header.size());
    t.rows.push_back(std::move(row));
  }
  return t;
}

void add_surface_map(draft& d, const std::vector<mapped_surface>& shown) {
  const vertex_map& first = shown.front().map;
  std::vector<float> all;
  for (const mapped_surface& one : shown) {
    const std::vector<float> values = with_values(one.map);
    all.insert(all.end(), values.begin(), values.end());
  }
  const map_look look{.map = colour_map::viridis, .first = 0, .is_count = first.unit == "1"};
  const colour_range range = choose_range(look, describe_values(std::move(all)));
  nlohmann::json pictures = nlohmann::json::array();
  std::string html = "<div class=\"views\">\n";
  for (const mapped_surface& one : shown) html += draw_surface(one, range, d.view, pictures);
  d.out.sections.back().figures.push_back(
      {with_unit(first.name + " on surfaces", first.unit),
       html + "</div>\n" + range.bar(first.unit, "vertices"),
       explain(first.name, first.meaning,
               fmt::format("Light grey: {}. Slopes are darker; the head is at the top of a surface seen from a side, "
                           "the front at the top of others.",
                           first.none)),
       {describe_maps(shown)},
       true});
  d.out.numbers["surfaces"][first.name] = {
      {"first", range.first}, {"last", range.last}, {"logarithmic", look.is_count}, {"pictures", std::move(pictures)}};
}

/// Names of the maps, in the order in which surfaces have them.
std::vector<std::string> list_maps(const std::vector<shown_surface>& surfaces) {
  std::vector<std::string> names;
  for (const shown_surface& s : surfaces)
    for (const vertex_map& map : s.maps)
      if (std::find(names.begin(), names.end(), map.name) == names.end()) names.push_back(map.name);
  return names;
}

}  // namespace

void add_surfaces(draft& d, const std::vector<shown_surface>& surfaces) {
  constexpr std::size_t max_figures = 6, max_drawn = 8;
  if (surfaces.empty()) return;
  section& added = d.add_section("Surfaces");
  for (const shown_surface& s : surfaces)
    if (!s.why_not.empty()) added.paragraphs.push_back(fmt::format("{} is not drawn: {}.", s.name, s.why_not));
  const std::vector<std::string> names = list_maps(surfaces);
  for (std::size_t i = 0; i < names.size() && i < max_figures; ++i) {
    std::vector<mapped_surface> shown;
    for (const shown_surface& s : surfaces)
      for (const vertex_map& map : s.maps)
        if (map.name == names[i] && s.why_not.empty() && shown.size() < max_drawn) shown.push_back({s, map});
    if (!shown.empty()) add_surface_map(d, shown);
  }
  if (names.size() > max_figures)
    added.paragraphs.push_back(fmt::format("{} of {} maps are drawn.", max_figures, names.size()));
}

}  // namespace voxherd::report
