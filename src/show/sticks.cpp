
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/escape.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

constexpr std::size_t max_side = 1100;  // pixels

mosaic fullest_slice(const draft& d) {
  std::vector<std::uint64_t> counts(d.view.size(d.slices.through));
  for (const std::uint64_t v : d.fitted) ++counts[d.view.place(v)[static_cast<std::size_t>(d.slices.through)]];
  mosaic one = d.slices;
  one.columns = 1;
  one.slices = {*std::max_element(d.slices.slices.begin(), d.slices.slices.end(),
                                  [&](auto a, auto b) { return counts[a] < counts[b]; })};
  return one;
}

/// Blends a line of a width of about 1.4 pixels over the image.
void draw_line(rgb_image& image, double x0, double y0, double x1, double y1, colour c) {
  const double dx = x1 - x0, dy = y1 - y0, squared = dx * dx + dy * dy;
  const auto limit = [](double v, std::size_t n) {
    return static_cast<std::size_t>(std::clamp(v, 0.0, static_cast<double>(n - 1)));
  };
  const std::size_t left = limit(std::min(x0, x1) - 1, image.width), right = limit(std::max(x0, x1) + 1, image.width);
  const std::size_t top = limit(std::min(y0, y1) - 1, image.height), bottom = limit(std::max(y0, y1) + 1, image.height);
  for (std::size_t y = top; y <= bottom; ++y)
    for (std::size_t x = left; x <= right; ++x) {
      const double px = static_cast<double>(x) + 0.5 - x0, py = static_cast<double>(y) + 0.5 - y0;
      const double t = squared > 0 ? std::clamp((px * dx + py * dy) / squared, 0.0, 1.0) : 0;
      const double cover = std::clamp(1.2 - std::hypot(px - t * dx, py - t * dy), 0.0, 1.0);
      for (std::size_t i = 0; i < 3; ++i) {
        std::uint8_t& value = image.rgb[3 * (y * image.width + x) + i];
        value = static_cast<std::uint8_t>(std::lround(std::lerp(value, c[i], cover)));
      }
    }
}

struct stick_drawing {
  const draft& d;
  const mosaic& slice;
  std::size_t scale;
  rgb_image image;

  void fill(const map_values& map, double brightest, const std::vector<bool>& inside) {
    constexpr double dimmed = 0.45;
    slice.for_each_pixel([&](std::size_t x, std::size_t y, const auto& place) {
      const std::uint64_t voxel = d.view.voxel(place);
      if (!inside[voxel]) return;
      const colour c = map_colour(colour_map::grey, dimmed * map[voxel] / brightest);
      for (std::size_t i = 0; i < scale * scale; ++i) image.set(x * scale + i % scale, y * scale + i / scale, c);
    });
  }

  std::uint64_t draw(const map_values& directions, const map_values& fractions, double min_fraction) {
    std::uint64_t drawn = 0;
    const auto size = static_cast<double>(scale);
    slice.for_each_pixel([&](std::size_t x, std::size_t y, const auto& place) {
      const std::uint64_t voxel = d.view.voxel(place);
      if (!(fractions[voxel] >= min_fraction)) return;
      const float* v = &directions[3 * voxel];
      const auto seen = d.view.seen({v[0], v[1], v[2]});
      const double half = 0.48 * size, cx = (static_cast<double>(x) + 0.5) * size,
                   cy = (static_cast<double>(y) + 0.5) * size;
      const double h = half * seen[static_cast<std::size_t>(slice.across)],
                   u = half * seen[static_cast<std::size_t>(slice.down)];
      draw_line(image, cx - h, cy + u, cx + h, cy - u, direction_colour(d.view.in_world({v[0], v[1], v[2]}), 1));
      ++drawn;
    });
    return drawn;
  }
};

}  // namespace

void add_sticks(draft& d, const std::string& background, double brightest,
                const std::vector<std::pair<std::string, std::string>>& fibres, double min_fraction) {
  if (!is_map(d, background, 1) || d.slices.slices.empty()) return;
  const mosaic slice = fullest_slice(d);
  const std::size_t side = std::max(slice.width(), slice.height()),
                    scale = std::clamp(max_side / side, std::size_t{3}, std::size_t{16});
  stick_drawing drawing{d, slice, scale, rgb_image(scale * slice.width(), scale * slice.height())};
  std::vector<bool> inside(d.grid.voxel_count());
  for (const std::uint64_t v : d.fitted) inside[v] = true;
  drawing.fill(d.read_shown(background), brightest, inside);
  std::uint64_t drawn = 0;
  // The strongest fibre is on top.
  for (auto f = fibres.rbegin(); f != fibres.rend(); ++f)
    if (is_map(d, f->first, 3) && is_map(d, f->second, 1))
      drawn += drawing.draw(d.read_shown(f->first), d.read_shown(f->second), min_fraction);
  const std::string text =
      fmt::format("{} sticks in one slice, with a volume fraction of at least {:.2g}.", drawn, min_fraction);
  const double form = d.view.spacing_mm(slice.down) / d.view.spacing_mm(slice.across);
  d.out.sections.back().figures.push_back(
      {"Sticks, coloured by direction",
       image_markup(drawing.image, text, form, true, false, mosaic_marks(slice, d.view)) +
           fmt::format("<p class=\"legend\">{}.</p>\n", html_text(describe(slice, d.view))),
       fmt::format(
           "{} Red: left to right; green: front to back; blue: up and down; a stick is short where the fibre is "
           "steep to the slice; grey: {}.",
           text, background),
       {},
       true});
  d.out.numbers["sticks"] = drawn;
}

}  // namespace voxherd::report
