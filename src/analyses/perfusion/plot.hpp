#pragma once

#include <cstdint>

#include <string>
#include <vector>

namespace voxherd {

/// One curve of a panel.
struct plot_line {
  enum class style { line, dots };
  std::string name;    ///< in the legend
  std::string colour;  ///< "#c0392b"
  style drawn = style::line;
  std::vector<double> y;
};

/// A panel of curves with the same x, with axes, ticks and a legend.
struct plot_panel {
  std::string title, x_label, y_label;
  std::vector<double> x;
  std::vector<plot_line> lines;
  std::vector<std::uint8_t> shaded;  ///< 1: this x has a grey band; one per x, or empty
};

/// An SVG image of panels, one below the other.
std::string draw_svg(const std::vector<plot_panel>& panels);

}  // namespace voxherd
