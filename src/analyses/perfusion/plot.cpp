#include "src/analyses/perfusion/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace voxherd {

namespace {

constexpr double width = 760, panel_height = 300, left = 80, right = 190, top = 34, bottom = 48;
constexpr double plot_width = width - left - right, plot_height = panel_height - top - bottom;
constexpr auto font = "font-family=\"Helvetica,Arial,sans-serif\" font-size=\"12\"";

/// 1, 2 or 5 times a power of ten, so that a range has about `count` ticks.
double nice_step(double range, int count) {
  const double rough = range / count, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

/// Converts numbers to positions along one axis.
struct scale {
  double least, most, from, to;
  double operator()(double value) const { return from + (value - least) / (most - least) * (to - from); }
};

class panel_writer {
 public:
  panel_writer(const plot_panel& panel, double y_offset, std::string& svg)
      : panel_(panel), svg_(svg), offset_(y_offset), x_(x_scale()), y_(y_scale()) {}

  void write() {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" {} font-weight=\"bold\">{}</text>\n", left, offset_ + 20, font,
        escaped(panel_.title));
    write_bands();
    write_axis_x();
    write_axis_y();
    for (const plot_line& line : panel_.lines)
      line.drawn == plot_line::style::dots ? write_dots(line) : write_line(line);
    write_legend();
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(svg_), text, std::forward<Args>(args)...);
  }

  scale x_scale() const { return {panel_.x.front(), panel_.x.back(), left, left + plot_width}; }

  scale y_scale() const {
    double least = 0, most = 0;
    for (const plot_line& line : panel_.lines)
      for (const double y : line.y)
        if (std::isfinite(y)) least = std::min(least, y), most = std::max(most, y);
    if (!(most > least)) most = least + 1;
    const double room = 0.05 * (most - least);
    return {least < 0 ? least - room : 0, most + room, offset_ + top + plot_height, offset_ + top};
  }

  void write_bands() {
    for (std::size_t i = 0; i < panel_.shaded.size(); ++i) {
      if (panel_.shaded[i] == 0) continue;
      const double before = i > 0 ? (panel_.x[i - 1] + panel_.x[i]) / 2 : panel_.x[i];
      const double after = i + 1 < panel_.x.size() ? (panel_.x[i + 1] + panel_.x[i]) / 2 : panel_.x[i];
      add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#e4e4e4\"/>\n", x_(before),
          offset_ + top, x_(after) - x_(before), plot_height);
    }
  }

  void write_axis_x() {
    const double y = offset_ + top + plot_height, step = nice_step(x_.most - x_.least, 8);
    add("<path d=\"M{0:.1f} {1:.1f}H{2:.1f}\" stroke=\"black\" fill=\"none\"/>\n", left, y, left + plot_width);
    for (double v = std::ceil(x_.least / step) * step; v <= x_.most + 1e-9 * step; v += step) {
      add("<path d=\"M{0:.1f} {1:.1f}v5\" stroke=\"black\"/>\n", x_(v), y);
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" {} text-anchor=\"middle\">{:.6g}</text>\n", x_(v), y + 19, font, v);
    }
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" {} text-anchor=\"middle\">{}</text>\n", left + plot_width / 2, y + 38, font,
        escaped(panel_.x_label));
  }

  void write_axis_y() {
    const double step = nice_step(y_.most - y_.least, 5), middle = offset_ + top + plot_height / 2;
    add("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"black\" fill=\"none\"/>\n", left, y_.from, y_.to);
    for (double v = std::ceil(y_.least / step) * step; v <= y_.most; v += step) {
      const double shown = std::fabs(v) < 1e-9 * step ? 0 : v;
      add("<path d=\"M{0:.1f} {1:.1f}h-5\" stroke=\"black\"/>\n", left, y_(v));
      add("<path d=\"M{0:.1f} {1:.1f}h{2:.1f}\" stroke=\"#d0d0d0\" stroke-width=\"0.5\"/>\n", left, y_(v), plot_width);
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" {} text-anchor=\"end\">{:.6g}</text>\n", left - 8, y_(v) + 4, font, shown);
    }
    add("<text transform=\"translate(18,{:.1f}) rotate(-90)\" {} text-anchor=\"middle\">{}</text>\n", middle, font,
        escaped(panel_.y_label));
  }

  void write_line(const plot_line& line) {
    svg_ += "<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"" + line.colour + "\" points=\"";
    for (std::size_t i = 0; i < line.y.size(); ++i) add("{:.1f},{:.1f} ", x_(panel_.x[i]), y_(line.y[i]));
    svg_ += "\"/>\n";
  }

  void write_dots(const plot_line& line) {
    for (std::size_t i = 0; i < line.y.size(); ++i)
      add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"{}\"/>\n", x_(panel_.x[i]), y_(line.y[i]), line.colour);
  }

  void write_legend() {
    double y = offset_ + top + 8;
    const double x = left + plot_width + 12;
    for (const plot_line& line : panel_.lines) {
      add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"3\" fill=\"{}\"/>\n", x, y - 5, line.colour);
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x + 20, y, font, escaped(line.name));
      y += 18;
    }
    if (std::find(panel_.shaded.begin(), panel_.shaded.end(), 1) == panel_.shaded.end()) return;
    add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"10\" fill=\"#e4e4e4\"/>\n", x, y - 9);
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>not fitted</text>\n", x + 20, y, font);
  }

  const plot_panel& panel_;
  std::string& svg_;
  double offset_;
  scale x_, y_;
};

}  // namespace

std::string draw_svg(const std::vector<plot_panel>& panels) {
  const double height = panel_height * static_cast<double>(panels.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  for (std::size_t i = 0; i < panels.size(); ++i)
    panel_writer(panels[i], panel_height * static_cast<double>(i), svg).write();
  return svg + "</svg>\n";
}

}  // namespace voxherd
