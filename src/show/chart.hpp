#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/show/distribution.hpp"
#include "src/show/page.hpp"

namespace voxherd::report {

/// One curve of a line chart.
struct series {
  enum class style { line, dots };
  std::string name;
  std::vector<double> y;
  style drawn = style::line;
};

struct line_chart {
  std::string title, x_label, y_label;  ///< labels with their units
  std::vector<double> x;
  std::vector<series> lines;         ///< up to five; values that are not finite are left out
  std::vector<std::uint8_t> shaded;  ///< 1: a grey band at this x; empty: none
};

/// SVG elements. `description` is the text alternative.
std::string draw_lines(const line_chart& chart, const std::string& description);
std::string draw_histogram(const histogram& h, const std::string& x_label, const std::string& y_label,
                           const std::string& description);

/// Bars below each other in the given order, with their names and values.
struct bar {
  std::string name;
  double value = 0;
};
std::string draw_bars(const std::vector<bar>& bars, const std::string& description);

table line_table(const line_chart& chart);
table histogram_table(const histogram& h, const std::string& name, const std::string& unit);

/// "0.00123", "12.5", "447913": four digits, or all of a number below ten million.
std::string number_text(double value);
/// A unit for readers: results call the unit of the series "input".
std::string unit_text(const std::string& unit);
/// "FA" or "MD (mm2/s)".
std::string with_unit(const std::string& name, const std::string& unit);

}  // namespace voxherd::report
