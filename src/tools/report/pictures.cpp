#include "src/tools/report/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "src/tools/report/chart.hpp"

namespace voxherd::report {

namespace {

double pixel_form(const draft& d) { return d.view.spacing_mm(d.slices.down) / d.view.spacing_mm(d.slices.across); }

std::vector<bool> make_mask(const draft& d) {
  std::vector<bool> inside(d.result.grid().voxel_count());
  for (const std::uint64_t v : d.voxels) inside[v] = true;
  return inside;
}

/// Draws the voxels that were processed; the others stay black.
template <class Choose>
rgb_image draw_slices(const draft& d, const Choose& choose) {
  rgb_image image(d.slices.width(), d.slices.height());
  const std::vector<bool> inside = make_mask(d);
  d.slices.for_each_pixel([&](std::size_t x, std::size_t y, const auto& place) {
    const std::uint64_t voxel = d.view.voxel(place);
    if (inside[voxel]) image.set(x, y, choose(voxel));
  });
  return image;
}

nlohmann::json mosaic_json(const draft& d) {
  const mosaic& m = d.slices;
  return {{"through", m.through}, {"across", m.across}, {"down", m.down},       {"first", m.box.first},
          {"last", m.box.last},   {"slices", m.slices}, {"columns", m.columns}, {"file_axes", d.view.file_axes()}};
}

void add_figure(draft& d, figure f) { d.out.sections.back().figures.push_back(std::move(f)); }

bool is_map(const draft& d, const std::string& name, std::size_t width) {
  if (!d.result.has(name)) return false;
  const output_spec& o = d.result.output(name);
  return o.layout == output_layout::volume && o.bytes_per_item() == width * element_bytes(o.type);
}

/// Where black, or the first colour, ends and the last colour begins.
std::pair<double, double> window(const map_look& look, const distribution& q) {
  const double first = look.first.value_or(q.min >= 0 ? 0 : q.q02), last = look.last.value_or(q.q98);
  return {first, last > first ? last : first + 1};
}

std::string legend(const draft& d) { return fmt::format("<p class=\"legend\">{}.</p>\n", escaped(describe(d.slices))); }

std::string joined(const std::string& meaning, const std::string& note) {
  return note.empty() ? as_sentence(meaning) : as_sentence(meaning) + " " + note;
}

}  // namespace

std::string colour_bar(colour_map map, double first, double last, const std::string& unit) {
  rgb_image bar(256, 1);
  for (std::size_t x = 0; x < bar.width; ++x) bar.set(x, 0, map_colour(map, static_cast<double>(x) / 255));
  const std::string end = unit.empty() || unit == "1" ? number_text(last) : number_text(last) + " " + unit;
  return fmt::format(
      "<div class=\"bar\"><span>{}</span><img alt=\"\" src=\"data:image/png;base64,{}\"><span>{}</span></div>\n",
      number_text(first), base64(encode_png(bar)), escaped(end));
}

std::string image_markup(const rgb_image& image, const std::string& description, double height_per_width, bool smooth) {
  constexpr double max_enlargement = 6;
  return fmt::format(
      "<img{} alt=\"{}\" width=\"{}\" height=\"{}\" style=\"aspect-ratio:{:.4f};max-width:{:.0f}px\" "
      "src=\"data:image/png;base64,{}\">\n",
      smooth ? " class=\"smooth\"" : "", escaped(description), image.width, image.height,
      static_cast<double>(image.width) / (static_cast<double>(image.height) * height_per_width),
      max_enlargement * static_cast<double>(image.width), base64(encode_png(image)));
}

void add_map(draft& d, const std::string& name, const map_look& look) {
  if (!is_map(d, name, 1)) return;
  const output_spec& o = d.result.output(name);
  const std::vector<float> map = d.result.read_map(name);
  const auto [first, last] = window(look, describe_values(read_values(d, o)));
  const rgb_image image = draw_slices(d, [&, from = first, to = last](std::uint64_t voxel) {
    const double v = map[voxel];
    return std::isfinite(v) ? map_colour(look.map, (v - from) / (to - from)) : not_finite_colour;
  });
  const std::string text = fmt::format("{} in {}.", name, describe(d.slices));
  add_figure(d,
             {with_unit(name, o.unit),
              image_markup(image, text, pixel_form(d), false) + colour_bar(look.map, first, last, o.unit) + legend(d),
              joined(o.meaning, look.note),
              {},
              true});
  d.out.numbers["pictures"][name] = {
      {"first", first}, {"last", last}, {"colours", look.map == colour_map::grey ? "grey" : "viridis"}};
  d.out.numbers["mosaic"] = mosaic_json(d);
}

void add_directions(draft& d, const std::string& name, const std::string& brightness, const std::string& note) {
  if (!is_map(d, name, 3) || !is_map(d, brightness, 1)) return;
  const std::vector<float> map = d.result.read_map(name), light = d.result.read_map(brightness);
  const rgb_image image = draw_slices(d, [&](std::uint64_t voxel) {
    const float* v = &map[3 * voxel];
    return direction_colour(d.view.in_world({v[0], v[1], v[2]}), light[voxel]);
  });
  add_figure(d,
             {fmt::format("{}, coloured by direction", name),
              image_markup(image, fmt::format("{} in {}.", name, describe(d.slices)), pixel_form(d), false) + legend(d),
              joined(d.result.output(name).meaning,
                     fmt::format("Red: left to right; green: front to back; blue: up and down; brightness: {}. {}",
                                 brightness, note)),
              {},
              true});
  d.out.numbers["pictures"][name] = {{"brightness", brightness}, {"colours", "direction"}};
}

void add_codes(draft& d, const std::string& name, const std::vector<std::pair<int, std::string>>& meanings,
               const std::string& note) {
  if (!is_map(d, name, 1)) return;
  const std::vector<float> map = d.result.read_map(name);
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
                       escaped(meanings[i].second));
    numbers.rows.push_back({std::to_string(meanings[i].first), meanings[i].second, std::to_string(counts[i])});
  }
  const std::string text = fmt::format("{} in {}.", name, describe(d.slices));
  add_figure(d, {name,
                 image_markup(image, text, pixel_form(d), false) + key + "</ul>\n" + legend(d),
                 joined(d.result.output(name).meaning, note),
                 {numbers},
                 true});
}

void add_histogram(draft& d, const std::string& name, std::optional<double> first, std::optional<double> last) {
  constexpr std::size_t bins = 40;
  if (!d.result.has(name)) return;
  const output_spec& o = d.result.output(name);
  if (o.layout == output_layout::points) return;
  const std::vector<float> values = read_values(d, o);
  const distribution q = describe_values(values);
  if (q.values == 0) return;
  const auto [from, to] = window({colour_map::grey, first, last}, q);
  const histogram h = count_values(values, from, to, bins);
  const std::string what = o.layout == output_layout::volume ? "voxels" : "items";
  const std::string text = fmt::format(
      "Distribution of {}: median {:.4g}, quartiles {:.4g} and {:.4g}, from {:.4g} to "
      "{:.4g}.",
      name, q.median, q.q25, q.q75, q.min, q.max);
  const std::string outside =
      h.below + h.above > 0 ? fmt::format(" {} {} are outside the chart.", h.below + h.above, what) : "";
  add_figure(d, {fmt::format("Distribution of {}", name),
                 draw_histogram(h, with_unit(name, o.unit), what, text),
                 as_sentence(o.meaning) + " " + text + outside,
                 {histogram_table(h, name, o.unit)},
                 false});
  d.out.numbers["histograms"][name] = as_json(h);
}

}  // namespace voxherd::report
