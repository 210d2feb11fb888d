#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "src/tools/report/pictures.hpp"

namespace voxherd::report {

namespace {

struct view_plane {
  std::size_t across, up;
  const char* name;
};
constexpr view_plane planes[] = {{0, 1, "from above"}, {1, 2, "from the right"}, {0, 2, "from behind"}};

/// The largest value of the voxels that lie behind each pixel; black where there is none.
rgb_image draw_plane(const draft& d, const view_plane& plane, const view_box& box, const std::vector<float>& map,
                     const colour_range& range) {
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(box.extent(static_cast<int>(axis))); };
  rgb_image image(extent(plane.across), extent(plane.up));
  std::vector<float> largest(image.width * image.height, -HUGE_VALF);
  for (const std::uint64_t v : d.voxels) {
    const auto place = d.view.place(v);
    const std::size_t x = place[plane.across] - box.first[plane.across], y = box.last[plane.up] - place[plane.up];
    float& pixel = largest[y * image.width + x];
    pixel = std::max(pixel, map[v]);
  }
  for (std::size_t i = 0; i < largest.size(); ++i)
    if (largest[i] > -HUGE_VALF) image.set(i % image.width, i / image.width, range.at(largest[i]));
  return image;
}

}  // namespace

void add_maximum_views(draft& d, const std::string& name, const map_look& look) {
  const output_spec* o = d.find(name);
  if (o == nullptr || o->layout != output_layout::volume || !o->shape.empty() || d.voxels.empty()) return;
  const std::vector<float> map = d.read_map(name);
  const colour_range range = choose_range(look, describe_values(read_values(d, *o)));
  const view_box box = enclose(d.view, d.voxels);
  std::string html = "<div class=\"views\">\n";
  for (const view_plane& plane : planes) {
    const double form =
        d.view.spacing_mm(static_cast<int>(plane.up)) / d.view.spacing_mm(static_cast<int>(plane.across));
    html += image_markup(draw_plane(d, plane, box, map, range), fmt::format("{} seen {}.", name, plane.name), form,
                         false, true);
  }
  html += "</div>\n" + range.bar(o->unit) +
          "<p class=\"legend\">Seen from above (left is left, the front at the top), from the right (the front on the "
          "right) and from behind (left is left).</p>\n";
  d.out.sections.back().figures.push_back(
      {fmt::format("{} in three views", name),
       html,
       explain(name, o->meaning, "Each pixel shows the largest value of all voxels behind it."),
       {},
       true});
}

}  // namespace voxherd::report
