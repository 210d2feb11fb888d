#include "src/show/chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/escape.hpp"

namespace voxherd::report {

namespace {

constexpr double width = 420, height = 240, left = 58, right = 14, top = 26, bottom = 44;

/// 1, 2 or 5 times a power of ten, so that a range has about `count` ticks.
double tick_step(double range, int count) {
  const double rough = range / count, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

/// Converts numbers to positions along one axis.
struct scale {
  double min, max, from, to;
  double operator()(double value) const { return from + (value - min) / (max - min) * (to - from); }
  /// Calls use(value) for each tick.
  template <class Use>
  void for_each_tick(int count, const Use& use) const {
    const double step = tick_step(max - min, count), first = std::ceil(min / step - 1e-9);
    for (int i = 0; i <= 3 * count; ++i)
      if (const double v = (first + i) * step; v <= max + 1e-9 * step) use(std::fabs(v) < 1e-9 * step ? 0 : v);
  }
};

class drawing {
 public:
  drawing(scale x_scale, scale y_scale) : x(x_scale), y(y_scale) {}

  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(marks_), text, std::forward<Args>(args)...);
  }

  void add_axes(const std::string& x_label, const std::string& y_label) {
    y.for_each_tick(5, [&](double v) {
      add("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left, y(v), width - right);
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.6g}</text>\n", left - 6, y(v) + 4, v);
    });
    x.for_each_tick(5, [&](double v) {
      add("<path class=\"axis\" d=\"M{:.1f} {:.1f}v4\"/>", x(v), y.from);
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.5g}</text>\n", x(v), y.from + 17, v);
    });
    add("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", left, y.from, width - right);
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", width - right, height - 8,
        html_text(x_label));
    add("<text x=\"4\" y=\"14\">{}</text>\n", html_text(y_label));
  }

  std::string finish(const std::string& description) const {
    return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n", width, height,
                       html_text(description), marks_);
  }

  const scale x, y;

 private:
  std::string marks_;
};

scale across(double min, double max) { return {min, max > min ? max : min + 1, left, width - right}; }
scale upwards(double min, double max) { return {min, max > min ? max : min + 1, height - bottom, top}; }

scale y_scale(const line_chart& chart) {
  double min = 0, max = 0;
  for (const series& line : chart.lines)
    for (const double v : line.y)
      if (std::isfinite(v)) min = std::min(min, v), max = std::max(max, v);
  const double room = 0.05 * (max - min);
  return upwards(min < 0 ? min - room : 0, max + room);
}

void draw_bands(drawing& d, const line_chart& chart) {
  const auto& x = chart.x;
  for (std::size_t i = 0; i < chart.shaded.size() && i < x.size(); ++i) {
    if (chart.shaded[i] == 0) continue;
    const double from = i > 0 ? (x[i - 1] + x[i]) / 2 : x[i], to = i + 1 < x.size() ? (x[i + 1] + x[i]) / 2 : x[i];
    d.add("<rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", d.x(from), top,
          d.x(to) - d.x(from), height - top - bottom);
  }
}

void draw_one(drawing& d, const line_chart& chart, std::size_t number) {
  const series& line = chart.lines[number];
  d.add("<g class=\"k{}\">", number);
  bool pen_down = false;
  std::string path;
  for (std::size_t i = 0; i < std::min(chart.x.size(), line.y.size()); ++i) {
    if (!std::isfinite(line.y[i])) {
      pen_down = false;
    } else if (line.drawn == series::style::dots) {
      d.add("<circle class=\"fill\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"/>", d.x(chart.x[i]), d.y(line.y[i]));
    } else {
      path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", d.x(chart.x[i]), d.y(line.y[i]));
      pen_down = true;
    }
  }
  if (!path.empty()) d.add("<path class=\"draw\" d=\"{}\"/>", path);
  d.add("</g>\n");
}

std::string key_markup(const line_chart& chart) {
  std::string html = "<ul class=\"key\">";
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const bool dots = chart.lines[i].drawn == series::style::dots;
    html += fmt::format(
        "<li><svg class=\"k{}\" viewBox=\"0 0 28 8\" aria-hidden=\"true\">{}</svg> {}</li>", i,
        dots ? "<circle class=\"fill\" cx=\"14\" cy=\"4\" r=\"3\"/>" : "<path class=\"draw\" d=\"M0 4H28\"/>",
        html_text(chart.lines[i].name));
  }
  return html + "</ul>\n";
}

}  // namespace

std::string draw_lines(const line_chart& chart, const std::string& description) {
  const auto [min, max] = std::minmax_element(chart.x.begin(), chart.x.end());
  drawing d(chart.x.empty() ? across(0, 1) : across(*min, *max), y_scale(chart));
  draw_bands(d, chart);
  d.add_axes(chart.x_label, chart.y_label);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) draw_one(d, chart, i);
  return d.finish(description) + key_markup(chart);
}

std::string draw_histogram(const histogram& h, const std::string& x_label, const std::string& y_label,
                           const std::string& description) {
  const auto most = *std::max_element(h.counts.begin(), h.counts.end());
  drawing d(across(h.first, h.last), upwards(0, static_cast<double>(most)));
  d.add_axes(x_label, y_label);
  for (std::size_t i = 0; i < h.counts.size(); ++i) {
    if (h.counts[i] == 0) continue;
    const double from = d.x(h.edge(i)), to = d.x(h.edge(i + 1)), y = d.y(static_cast<double>(h.counts[i]));
    d.add(
        "<rect class=\"fill\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{:.4g} to {:.4g}: "
        "{}</title></rect>\n",
        from + 0.3, y, std::max(0.4, to - from - 0.6), d.y.from - y, h.edge(i), h.edge(i + 1), h.counts[i]);
  }
  return d.finish(description);
}

std::string draw_bars(const std::vector<bar>& bars, const std::string& description) {
  constexpr double row = 22, names = 170, counts = 70;
  double most = 0;
  std::string marks;
  for (const bar& b : bars) most = std::max(most, b.value);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = row * static_cast<double>(i), length = most > 0 ? bars[i].value / most : 0;
    const double room = width - names - counts;
    fmt::format_to(std::back_inserter(marks),
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text><rect class=\"fill\" x=\"{:.1f}\" "
                   "y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                   names - 8, y + 15, html_text(bars[i].name), names, y + 4, std::max(1.0, room * length), row - 8,
                   names + room * length + 6, y + 15, number_text(bars[i].value));
  }
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n", width,
                     row * static_cast<double>(std::max<std::size_t>(1, bars.size())), html_text(description), marks);
}

table line_table(const line_chart& chart) {
  table t{chart.title, {chart.x_label}, {}};
  for (const series& line : chart.lines) t.header.push_back(line.name);
  for (std::size_t i = 0; i < chart.x.size(); ++i) {
    t.rows.push_back({number_text(chart.x[i])});
    for (const series& line : chart.lines) t.rows.back().push_back(i < line.y.size() ? number_text(line.y[i]) : "");
  }
  return t;
}

table histogram_table(const histogram& h, const std::string& name, const std::string& unit) {
  table t{with_unit(name, unit), {"from", "to", "count"}, {}};
  if (h.below > 0) t.rows.push_back({"less", number_text(h.first), std::to_string(h.below)});
  for (std::size_t i = 0; i < h.counts.size(); ++i)
    t.rows.push_back({number_text(h.edge(i)), number_text(h.edge(i + 1)), std::to_string(h.counts[i])});
  if (h.above > 0) t.rows.push_back({number_text(h.last), "more", std::to_string(h.above)});
  return t;
}

std::string number_text(double value) {
  constexpr double max_in_full = 1e7, max_count = 1e15;  // counts and labels are integers, and never rounded
  const double size = std::fabs(value);
  const bool is_whole = size < max_count && value == std::round(value);
  return size >= 1e4 && (size < max_in_full || is_whole) ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string unit_text(const std::string& unit) { return unit == "input" ? "signal" : unit; }

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() || unit == "1" ? name : fmt::format("{} ({})", name, unit_text(unit));
}

}  // namespace voxherd::report
