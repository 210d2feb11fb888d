#include "src/show/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/escape.hpp"
#include "core/text.hpp"
#include "src/show/chart.hpp"

namespace voxherd::report {

namespace {

double pixel_form(const draft& d) { return d.view.spacing_mm(d.slices.down) / d.view.spacing_mm(d.slices.across); }

std::vector<bool> make_mask(const draft& d) {
  std::vector<bool> inside(d.grid.voxel_count());
  for (const std::uint64_t v : d.voxels) inside[v] = true;
  return inside;
}

/// Draws the voxels that were processed; around them is the anatomy, or black.
template <class Choose>
rgb_image draw_slices(const draft& d, const Choose& choose) {
  rgb_image image(d.slices.width(), d.slices.height());
  const std::vector<bool> inside = make_mask(d);
  d.slices.for_each_pixel([&](std::size_t x, std::size_t y, const auto& place) {
    const std::uint64_t voxel = d.view.voxel(place);
    if (inside[voxel]) {
      image.set(x, y, choose(voxel));
    } else if (!d.anatomy.empty()) {
      constexpr double dimmed = 0.7;
      image.set(x, y, map_colour(colour_map::grey, dimmed * static_cast<double>(d.anatomy[voxel])));
    }
  });
  return image;
}

nlohmann::json mosaic_json(const draft& d) {
  const mosaic& m = d.slices;
  return {{"through", m.through}, {"across", m.across}, {"down", m.down},       {"first", m.box.first},
          {"last", m.box.last},   {"slices", m.slices}, {"columns", m.columns}, {"file_axes", d.view.file_axes()}};
}

void add_figure(draft& d, figure f) { d.out.sections.back().figures.push_back(std::move(f)); }

std::string legend(const draft& d) {
  return fmt::format("<p class=\"legend\">{}{}.</p>\n", html_text(describe(d.slices, d.view)),
                     d.anatomy.empty() ? "" : "; around them the mean of the series");
}

/// Small pictures stand side by side.
bool is_wide(const draft& d) { return d.slices.width() > 260; }

std::string join(const std::string& a, const std::string& b) { return a.empty() || b.empty() ? a + b : a + " " + b; }

}  // namespace

colour colour_range::at(double value) const {
  constexpr colour none{45, 45, 45};
  if (!std::isfinite(value)) return not_finite_colour;
  if ((look.is_count || look.zero_is_none) && value == 0) return none;
  return map_colour(look.map, look.is_count ? std::log1p(value) / std::log1p(last) : (value - first) / (last - first));
}

std::string colour_range::bar(const std::string& unit, const char* places) const {
  std::string html = colour_bar(look.map, first, last, unit);
  if (look.is_count)
    html += fmt::format(
        "<p class=\"legend\">The scale is logarithmic: its middle is {}. Dark grey {} have a count of 0.</p>\n",
        number_text(std::expm1(std::log1p(last) / 2)), places);
  return html;
}

colour_range choose_range(const map_look& look, const distribution& q) {
  if (look.is_count) return {look, 0, std::max(1.0, q.max)};
  const double first = look.first.value_or(q.min >= 0 ? 0 : q.q05), last = look.last.value_or(q.q95);
  return {look, first, last > first ? last : first + 1};
}

std::string colour_bar(colour_map map, double first, double last, const std::string& unit) {
  rgb_image bar(256, 1);
  for (std::size_t x = 0; x < bar.width; ++x) bar.set(x, 0, map_colour(map, static_cast<double>(x) / 255));
  const std::string end = unit.empty() || unit == "1" ? number_text(last) : number_text(last) + " " + unit_text(unit);
  return fmt::format(
      "<div class=\"bar\"><span>{}</span><img alt=\"\" src=\"data:image/png;base64,{}\"><span>{}</span></div>\n",
      number_text(first), base64(encode_png(bar)), html_text(end));
}

namespace {

/// A letter at the left or right edge of a picture, or a text above its lower edge.
std::string mark(const char* place, double x, double y, const std::string& text) {
  return fmt::format("<span class=\"mark {}\" style=\"left:{:.2f}%;top:{:.2f}%\" aria-hidden=\"true\">{}</span>\n",
                     place, 100 * x, 100 * y, text);
}

}  // namespace

std::string side_marks(const std::array<const char*, 2>& letters) {
  return mark("begin", 0, 0.5, letters[0]) + mark("end", 1, 0.5, letters[1]);
}

std::string side_marks(const grid_view& view, int across) { return side_marks(view.letters(across)); }

std::string mosaic_marks(const mosaic& m, const grid_view& view) {
  const auto [left, right] = view.letters(m.across);
  const double columns = static_cast<double>(m.columns),
               rows = std::ceil(static_cast<double>(m.slices.size()) / columns);
  std::string marks;
  for (std::size_t t = 0; t < m.slices.size(); ++t) {
    const auto column = static_cast<double>(t % m.columns), row = static_cast<double>(t / m.columns);
    const double middle = (row + 0.5) / rows;
    if (column == 0) marks += mark("begin", 0, middle, left);
    if (t % m.columns + 1 == m.columns || t + 1 == m.slices.size())
      marks += mark("end", (column + 1) / columns, middle, right);
    marks += mark("foot", column / columns, (row + 1) / rows,
                  fmt::format("{:.0f}{}", view.world_mm(m.through, m.slices[t]), t == 0 ? " mm" : ""));
  }
  return marks;
}

std::string image_markup(const rgb_image& image, const std::string& description, double height_per_width, bool smooth,
                         bool is_in_group, const std::string& marks) {
  constexpr double max_enlargement = 10, max_group_height = 480;
  const double form = static_cast<double>(image.width) / (static_cast<double>(image.height) * height_per_width);
  double max_width = max_enlargement * static_cast<double>(image.width);
  if (is_in_group) max_width = std::min(max_width, max_group_height * form);
  return fmt::format(
      "<div class=\"picture\" style=\"max-width:{:.0f}px\"><img{} alt=\"{}\" width=\"{}\" height=\"{}\" "
      "style=\"aspect-ratio:{:.4f}\" src=\"data:image/png;base64,{}\">\n{}</div>\n",
      max_width, smooth ? " class=\"smooth\"" : "", html_text(description), image.width, image.height, form,
      base64(encode_png(image)), marks);
}

namespace {

bool is_constant(const distribution& q) { return q.values > 1 && q.not_finite == 0 && q.min == q.max; }

/// Says what a map would not show.
void add_constant(draft& d, const output_spec& o, double value) {
  const std::string unit = o.unit == "1" || o.unit.empty() ? "" : " " + unit_text(o.unit);
  d.out.sections.back().paragraphs.push_back(
      explain(o.name, o.meaning, fmt::format("{} is {}{} in every voxel.", o.name, number_text(value), unit)));
  d.out.numbers["pictures"][o.name] = {{"constant", value}};
}

}  // namespace

void add_map(draft& d, const std::string& name, const map_look& look) {
  if (!is_map(d, name, 1)) return;
  const output_spec& o = *d.find(name);
  const map_values map = d.read_shown(name);
  const distribution& q = describe_output(d, o);
  if (is_constant(q) && !look.is_count) return add_constant(d, o, q.min);
  const colour_range range = choose_range(look, q);
  const rgb_image image = draw_slices(d, [&](std::uint64_t voxel) { return range.at(map[voxel]); });
  const std::string text = fmt::format("{} in {}.", name, describe(d.slices, d.view));
  const std::string missing =
      q.not_finite > 0 ? fmt::format("Magenta: {} without a finite value.", counted(q.not_finite, "voxel")) : "";
  add_figure(d, {with_unit(name, o.unit),
                 image_markup(image, text, pixel_form(d), false, false, mosaic_marks(d.slices, d.view)) +
                     range.bar(o.unit) + legend(d),
                 explain(name, o.meaning, join(look.note, missing)),
                 {},
                 is_wide(d)});
  d.out.numbers["pictures"][name] = {{"first", range.first},
                                     {"last", range.last},
                                     {"colours", look.map == colour_map::grey ? "grey" : "viridis"},
                                     {"logarithmic", look.is_count}};
  d.out.numbers["mosaic"] = mosaic_json(d);
}

void add_directions(draft& d, const std::string& name, const std::string& brightness, double brightest,
                    const std::string& note) {
  if (!is_map(d, name, 3) || !is_map(d, brightness, 1)) return;
  const map_values map = d.read_shown(name), light = d.read_shown(brightness);
  const rgb_image image = draw_slices(d, [&](std::uint64_t voxel) {
    const float* v = &map[3 * voxel];
    return direction_colour(d.view.in_world({v[0], v[1], v[2]}), light[voxel] / brightest);
  });
  add_figure(
      d, {fmt::format("{}, coloured by direction", name),
          image_markup(image, fmt::format("{} in {}.", name, describe(d.slices, d.view)), pixel_form(d), false, false,
                       mosaic_marks(d.slices, d.view)) +
              legend(d),
          explain(name, d.find(name)->meaning,
                  fmt::format("Red: left to right; green: front to back; blue: up and down; brightness: {} up to "
                              "{:.3g}. {}",
                              brightness, brightest, note)),
          {},
          is_wide(d)});
  d.out.numbers["pictures"][name] = {{"brightness", brightness}, {"brightest", brightest}, {"colours", "direction"}};
}

void add_codes(draft& d, const std::string& name, const std::vector<std::pair<int, std::string>>& meanings,
               const std::string& note) {
  if (!is_map(d, name, 1)) return;
  const map_values map = d.read_map(name);
  std::vector<std::uint64_t> counts(meanings.size());
  const auto number = [&](std::uint64_t voxel) {
    const auto found = std::find_if(meanings.begin(), meanings.end(),
                                    [&](const auto& m) { return static_cast<float>(m.first) == map[voxel]; });
    return static_cast<std::size_t>(found - meanings.begin());
  };
  for (const std::uint64_t v : d.voxels)
    if (const std::size_t i = number(v); i < counts.size()) ++counts[i];
  const rgb_image image = draw_slices(d, [&](std::uint64_t voxel) {
    const std::size_t i = number(voxel);
    return i < meanings.size() ? code_colour(i) : colour{60, 60, 60};
  });
  std::string key = "<ul class=\"key\">";
  table numbers{name, {"code", "meaning", "voxels"}, {}};
  for (std::size_t i = 0; i < meanings.size(); ++i) {
    if (counts[i] == 0) continue;
    key += fmt::format("<li><i style=\"background:{}\"></i>{}: {}</li>", css_colour(code_colour(i)), meanings[i].first,
                       html_text(meanings[i].second));
    numbers.rows.push_back({std::to_string(meanings[i].first), meanings[i].second, std::to_string(counts[i])});
  }
  const std::string text = fmt::format("{} in {}.", name, describe(d.slices, d.view));
  add_figure(d, {name,
                 image_markup(image, text, pixel_form(d), false, false, mosaic_marks(d.slices, d.view)) + key +
                     "</ul>\n" + legend(d),
                 explain(name, d.find(name)->meaning, note),
                 {numbers},
                 is_wide(d)});
}

namespace {

/// The range of a chart: up to the extremes unless they are far from the other values, and from 0 if that is near.
std::pair<double, double> chart_range(const distribution& q) {
  const double room = (q.q98 - q.q02) / 2;
  const double last = q.max <= q.q98 + room ? q.max : q.q98, first = q.min >= q.q02 - room ? q.min : q.q02;
  return {first > 0 && first < last / 3 ? 0 : first, last};
}

}  // namespace

void add_histogram(draft& d, const std::string& name, std::optional<double> first, std::optional<double> last) {
  constexpr std::size_t bins = 40;
  if (d.find(name) == nullptr) return;
  const output_spec& o = *d.find(name);
  if (o.layout == output_layout::points) return;
  const distribution& q = describe_output(d, o);
  if (!(q.max > q.min)) return;
  const auto [low, high] = chart_range(q);
  const double from = first.value_or(low), to = last.value_or(high);
  if (!(to > from)) return;
  const histogram h = count_values(read_values(d, o), from, to, bins);
  const bool is_map = o.layout == output_layout::volume;
  const std::string what = is_map ? "voxels" : d.item_word;
  const std::string text = fmt::format("Median {:.4g}, quartiles {:.4g} and {:.4g}, from {:.4g} to {:.4g}.", q.median,
                                       q.q25, q.q75, q.min, q.max);
  const std::string outside =
      h.below + h.above > 0 ? fmt::format(" {} {} are outside the chart.", h.below + h.above, what) : "";
  add_figure(d, {fmt::format("Distribution of {}", name),
                 draw_histogram(h, with_unit(name, o.unit), what, fmt::format("Distribution of {}. {}", name, text)),
                 explain(name, o.meaning, text + outside),
                 {histogram_table(h, name, o.unit)},
                 false});
  d.out.numbers["histograms"][name] = as_json(h);
}

namespace {

/// The largest value of the voxels that lie behind each pixel; black where there is none.
rgb_image draw_plane(const draft& d, const view_plane& plane, const view_box& box, const map_values& map,
                     const colour_range& range) {
  const auto across = static_cast<std::size_t>(plane.across), up = static_cast<std::size_t>(plane.up);
  rgb_image image(box.extent(plane.across), box.extent(plane.up));
  std::vector<float> largest(image.width * image.height, -HUGE_VALF);
  for (const std::uint64_t v : d.voxels) {
    const auto place = d.view.place(v);
    const std::size_t x = place[across] - box.first[across], y = box.last[up] - place[up];
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
  const map_values map = d.read_map(name);
  const colour_range range = choose_range(look, describe_output(d, *o));
  const view_box box = enclose(d.view, d.voxels);
  std::string html = "<div class=\"views\">\n";
  for (const view_plane& plane : three_views(d.view)) {
    const double form = d.view.spacing_mm(plane.up) / d.view.spacing_mm(plane.across);
    html += image_markup(draw_plane(d, plane, box, map, range), fmt::format("{} seen {}.", name, plane.name), form,
                         false, true, side_marks(d.view, plane.across));
  }
  html += "</div>\n" + range.bar(o->unit) + fmt::format("<p class=\"legend\">{}.</p>\n", describe_three_views(d.view));
  d.out.sections.back().figures.push_back(
      {fmt::format("{} in three views", name),
       html,
       explain(name, o->meaning, "Each pixel shows the largest value of all voxels behind it."),
       {},
       true});
}

}  // namespace voxherd::report
