#include "src/show/fibres.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "src/export/fibres.hpp"
#include "src/show/chart.hpp"
#include "src/show/draft.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

constexpr auto position = "position";

using point = std::array<double, 3>;

struct extent {
  point first{HUGE_VAL, HUGE_VAL, HUGE_VAL}, last{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  void include(const point& p) {
    for (std::size_t a = 0; a < 3; ++a) first[a] = std::min(first[a], p[a]), last[a] = std::max(last[a], p[a]);
  }
};

/// Every k-th finished item, so that neither fibres nor points are too many.
std::vector<fibre> read_fibres(const result_draft& d, const std::string& measure) {
  constexpr std::uint64_t max_fibres = 20000, max_points = 2000000;
  const auto& offsets = d.result.point_offsets();
  const std::uint64_t step =
      std::max((d.items.size() + max_fibres - 1) / max_fibres, (d.result.point_count() + max_points - 1) / max_points);
  // Many fibres: one reading of all values is faster than one for each.
  const std::uint64_t stored = d.result.item_voxels().size();
  std::vector<float> values;
  if (!measure.empty() && stored <= 10 * max_points) values = d.result.read_items(measure, 0, stored, 1);
  std::vector<fibre> fibres;
  for (std::uint64_t i = 0; i < d.items.size(); i += std::max<std::uint64_t>(1, step)) {
    const std::uint64_t item = d.items[i], count = offsets[item + 1] - offsets[item];
    if (count < 2 || count > max_points) continue;
    const std::vector<float> mm = d.result.read_points(position, offsets[item], count, 3);
    fibre f;
    for (std::size_t k = 0; k < count; ++k) f.mm.push_back(d.view.place_mm({mm[3 * k], mm[3 * k + 1], mm[3 * k + 2]}));
    if (!measure.empty()) f.value = values.empty() ? d.result.read_items(measure, item, 1).front() : values[item];
    fibres.push_back(std::move(f));
  }
  return fibres;
}

/// Counts fibres, each once per voxel.
class fibre_counter {
 public:
  explicit fibre_counter(const grid_view& view)
      : view_(view), counts(view.size(0) * view.size(1) * view.size(2)), last_(counts.size()) {}

  void add(const fibre& f) {
    ++number_;
    for (std::size_t k = 0; k < f.mm.size(); ++k)
      walk_segment(index(f.mm[k > 0 ? k - 1 : 0]), index(f.mm[k]), [&](const auto& place, double) { visit(place); });
  }

 private:
  point index(const point& mm) const {
    return {mm[0] / view_.spacing_mm(0), mm[1] / view_.spacing_mm(1), mm[2] / view_.spacing_mm(2)};
  }

  void visit(const std::array<int, 3>& place) {
    std::array<std::uint64_t, 3> inside{};
    for (int i = 0; i < 3; ++i) {
      const int at = place[static_cast<std::size_t>(i)];
      if (at < 0 || static_cast<std::uint64_t>(at) >= view_.size(i)) return;
      inside[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(at);
    }
    const std::uint64_t v = view_.voxel(inside);
    if (last_[v] == number_) return;
    last_[v] = number_;
    ++counts[v];
  }

  const grid_view& view_;

 public:
  std::vector<float> counts;

 private:
  std::vector<std::uint32_t> last_;  ///< number of the last fibre in the voxel
  std::uint32_t number_ = 0;
};

/// Adds up colours of line pieces in pixels; where many fibres lie above each other, their mean is shown brighter.
class canvas {
 public:
  canvas(const extent& box, const view_plane& p)
      : p_(p),
        box_(box),
        pixels_per_mm_(side / std::max({span(p.across), span(p.up), 1.0})),
        image_(pixels(p.across), pixels(p.up)),
        sums_(image_.rgb.size()),
        counts_(image_.width * image_.height) {}

  void draw(const point& a, const point& b, colour c) {
    const double length = std::hypot(b[at(p_.across)] - a[at(p_.across)], b[at(p_.up)] - a[at(p_.up)]) * pixels_per_mm_;
    const int steps = static_cast<int>(std::clamp(std::ceil(2 * length), 1.0, 2.0 * side));
    for (int k = 0; k < steps; ++k) {
      const double t = (k + 0.5) / steps;
      const std::size_t x = pixel(p_.across, std::lerp(a[at(p_.across)], b[at(p_.across)], t));
      const std::size_t y = image_.height - 1 - pixel(p_.up, std::lerp(a[at(p_.up)], b[at(p_.up)], t));
      const std::size_t i = y * image_.width + x;
      ++counts_[i];
      for (std::size_t n = 0; n < 3; ++n) sums_[3 * i + n] += c[n];
    }
  }

  const rgb_image& finish() {
    constexpr double dimmest = 0.55;
    const double most = std::log1p(*std::max_element(counts_.begin(), counts_.end()));
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      const double light = dimmest + (1 - dimmest) * (most > 0 ? std::log1p(counts_[i]) / most : 1);
      for (std::size_t n = 0; n < 3; ++n)
        image_.rgb[3 * i + n] = static_cast<std::uint8_t>(std::lround(light * sums_[3 * i + n] / counts_[i]));
    }
    return image_;
  }

 private:
  static constexpr double side = 420;  // pixels
  static std::size_t at(int axis) { return static_cast<std::size_t>(axis); }
  double span(int axis) const { return box_.last[at(axis)] - box_.first[at(axis)]; }
  std::size_t pixels(int axis) const { return static_cast<std::size_t>(span(axis) * pixels_per_mm_) + 1; }
  std::size_t pixel(int axis, double mm) const {
    return std::min(static_cast<std::size_t>(std::max(0.0, (mm - box_.first[at(axis)]) * pixels_per_mm_)),
                    pixels(axis) - 1);
  }

  view_plane p_;
  extent box_;
  double pixels_per_mm_;
  rgb_image image_;
  std::vector<double> sums_, counts_;
};

colour segment_colour(const point& a, const point& b) {
  point unit{};
  const double length = std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
  for (std::size_t i = 0; i < 3; ++i) unit[i] = length > 0 ? (b[i] - a[i]) / length : 0;
  return direction_colour(unit, 1);
}

/// Three pictures next to each other. `choose` gives the colour of a piece of a fibre.
template <class Choose>
std::string draw_views(const grid_view& view, const std::vector<fibre>& fibres, const std::string& what,
                       const Choose& choose) {
  extent box;
  for (const fibre& f : fibres)
    for (const point& p : f.mm) box.include(p);
  std::string html = "<div class=\"views\">\n";
  for (const view_plane& p : three_views(view)) {
    canvas c(box, p);
    for (const fibre& f : fibres)
      for (std::size_t k = 1; k < f.mm.size(); ++k) c.draw(f.mm[k - 1], f.mm[k], choose(f, k));
    html +=
        image_markup(c.finish(), fmt::format("{} seen {}.", what, p.name), 1, true, true, side_marks(view, p.across));
  }
  return html + fmt::format("</div>\n<p class=\"legend\">{}.</p>\n", describe_three_views(view));
}

void remove_infinite(std::vector<fibre>& fibres) {
  std::erase_if(fibres, [](const fibre& f) {
    return std::any_of(f.mm.begin(), f.mm.end(), [](const point& p) {
      return !std::isfinite(p[0]) || !std::isfinite(p[1]) || !std::isfinite(p[2]);
    });
  });
}

void add_by_measure(result_draft& d, const std::vector<fibre>& fibres, const std::string& measure,
                    const std::string& what) {
  std::vector<float> values;
  for (const fibre& f : fibres) values.push_back(static_cast<float>(f.value));
  const distribution q = describe_values(std::move(values));
  if (!(q.q98 > q.q02)) return;
  const output_spec& o = d.result.output(measure);
  const std::string picture = draw_views(d.view, fibres, what, [&](const fibre& f, std::size_t) {
    return std::isfinite(f.value) ? map_colour(colour_map::viridis, (f.value - q.q02) / (q.q98 - q.q02))
                                  : not_finite_colour;
  });
  d.out.sections.back().figures.push_back({fmt::format("Paths, coloured by {}", with_unit(measure, o.unit)),
                                           picture + colour_bar(colour_map::viridis, q.q02, q.q98, o.unit),
                                           explain(measure, o.meaning),
                                           {},
                                           true});
}

/// Slices and three views of the number of paths in each voxel. `what`: "10 of 20 paths".
void add_fibre_density(draft& d, const std::vector<fibre>& fibres, const std::string& what) {
  std::vector<float> counts = count_fibres(d.view, fibres);
  std::vector<std::uint64_t> visited;
  for (std::uint64_t v = 0; v < counts.size(); ++v)
    if (counts[v] > 0) visited.push_back(v);
  if (visited.empty()) return;
  d.out.numbers["voxels_with_paths"] = visited.size();
  d.out.numbers["max_paths_in_voxel"] = *std::max_element(counts.begin(), counts.end());
  image_draft maps(d.grid, d.view.is_radiological() ? view_sides::radiological : view_sides::left_on_left);
  maps.add("paths", 1, "", "number of paths in the voxel, each counted once", std::move(counts));
  maps.show(std::move(visited));
  maps.add_section("");
  const map_look look{
      .map = colour_map::viridis, .note = what + ". Bright voxels are in dense bundles.", .is_count = true};
  add_map(maps, "paths", look);
  add_maximum_views(maps, "paths", look);
  auto& figures = d.out.sections.back().figures;
  for (figure& f : maps.out.sections.back().figures) {
    f.title = "Density: number of " + f.title;
    figures.push_back(std::move(f));
  }
  d.out.numbers["path_mosaic"] = maps.out.numbers.value("mosaic", nlohmann::json());
}

}  // namespace

std::vector<float> count_fibres(const grid_view& view, const std::vector<fibre>& fibres) {
  fibre_counter counter(view);
  for (const fibre& f : fibres) counter.add(f);
  return std::move(counter.counts);
}

void add_fibres(result_draft& d, const std::string& measure) {
  if (!has_fibres(d.result) || d.result.point_count() == 0) return;
  const bool has_measure = d.result.has(measure) && d.result.output(measure).layout == output_layout::items;
  std::vector<fibre> fibres = read_fibres(d, has_measure ? measure : "");
  remove_infinite(fibres);
  if (fibres.empty()) return;
  d.add_section("Paths");
  const std::string what = fmt::format("{} of {}", fibres.size(), counted(d.items.size(), "path"));
  d.out.sections.back().figures.push_back(
      {"Paths, coloured by direction",
       draw_views(d.view, fibres, what,
                  [](const fibre& f, std::size_t k) { return segment_colour(f.mm[k - 1], f.mm[k]); }),
       fmt::format("{}. Red: left to right; green: front to back; blue: up and down.", what),
       {},
       true});
  if (has_measure) add_by_measure(d, fibres, measure, what);
  add_fibre_density(d, fibres, what);
  d.out.numbers["paths_shown"] = fibres.size();
}

}  // namespace voxherd::report
