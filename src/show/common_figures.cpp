#include "src/show/common_figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/escape.hpp"
#include "core/text.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "src/scan/gradients.hpp"
#include "src/show/chart.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

void add_status_map(result_draft& d) {
  if (!d.out.numbers.contains("status")) return;
  const auto& counts = d.out.numbers.at("status");
  if (counts.size() == counts.count("0")) return;
  std::vector<std::pair<int, std::string>> meanings;
  for (const voxel_status_text& text : voxel_status_texts)
    if (text.status != voxel_status::fitted)
      meanings.emplace_back(static_cast<int>(text.status), std::string(text.meaning));
  add_codes(d, "status", meanings, "Dark grey voxels were fitted.");
}

void add_gradients(result_draft& d) { add_gradients(d, stored_gradients(d.result)); }

std::size_t count_weighted_shells(const result_reader& r) {
  const std::vector<shell> shells = find_shells(stored_gradients(r));
  return static_cast<std::size_t>(
      std::count_if(shells.begin(), shells.end(), [](const shell& s) { return s.is_weighted(); }));
}

std::string acquisition_text(const result_reader& r) { return acquisition_text(stored_gradients(r)); }

namespace {

using direction = std::array<double, 3>;

/// Largest angle in degrees between any axis and the nearest of the directions.
double largest_gap(const std::vector<direction>& directions) {
  constexpr int tried = 2000;
  double gap = 0;
  for (int i = 0; i < tried; ++i) {  // Fibonacci points of a hemisphere
    const double z = (i + 0.5) / tried, r = std::sqrt(1 - z * z), turn = 2.399963229728653 * i;
    double nearest = 0;
    for (const direction& g : directions)
      nearest = std::max(nearest, std::fabs(g[0] * r * std::cos(turn) + g[1] * r * std::sin(turn) + g[2] * z));
    gap = std::max(gap, std::acos(std::min(1.0, nearest)));
  }
  return gap * 180 / 3.14159265358979;
}

/// The same for n evenly spread axes: the circumradius of hexagons that share a hemisphere.
double even_gap(std::size_t n) {
  return std::sqrt(2.4184 / static_cast<double>(std::max<std::size_t>(1, n))) * 180 / 3.14159265358979;
}

/// Equal-area picture of a hemisphere seen from above; axes that point down are shown by their opposite, hollow.
std::string draw_hemisphere(const std::vector<direction>& directions, const std::string& description) {
  constexpr double centre = 110, radius = 100;
  std::string marks = fmt::format("<circle class=\"axis\" cx=\"{0}\" cy=\"{0}\" r=\"{1}\"/>\n", centre, radius);
  for (const direction& g : directions) {
    const double sign = g[2] < 0 ? -1 : 1, z = std::min(1.0, sign * g[2]), flat = std::hypot(g[0], g[1]);
    const double r = radius * std::sqrt(std::max(0.0, 1 - z));
    const double x = flat > 0 ? sign * g[0] / flat * r : 0, y = flat > 0 ? sign * g[1] / flat * r : 0;
    fmt::format_to(std::back_inserter(marks), "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n",
                   sign > 0 ? "fill" : "draw", centre + x, centre - y);
  }
  return fmt::format(
      "<svg viewBox=\"0 0 220 220\" style=\"max-width:18rem\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
      html_text(description), marks);
}

/// Directions that are nearly the same axis as one before them.
std::size_t count_repeated(const std::vector<direction>& directions) {
  constexpr double same = 0.99985;  // cosine of 1 degree
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < directions.size(); ++i)
    repeated +=
        std::any_of(directions.begin(), directions.begin() + static_cast<std::ptrdiff_t>(i), [&](const auto& g) {
          const auto& f = directions[i];
          return std::fabs(f[0] * g[0] + f[1] * g[1] + f[2] * g[2]) > same;
        });
  return repeated;
}

void warn_about_directions(draft& d, const shell& s, double gap) {
  constexpr double max_gap = 60, max_ratio = 3;  // six evenly spread axes leave 37 degrees
  constexpr std::size_t needed = 6;              // a tensor has six elements
  const std::size_t n = s.directions.size(), distinct = n - count_repeated(s.directions);
  if (gap > max_gap || (distinct >= needed && gap > max_ratio * even_gap(distinct)))
    d.warn(
        fmt::format("The directions at b = {} s/mm2 leave a gap of {:.0f}° (about {:.0f}° if they were evenly spread); "
                    "is the gradient table right?",
                    b_text(s), gap, even_gap(distinct)));
  if (n >= needed && distinct < needed)
    d.warn(fmt::format("The {} at b = {} s/mm2 have only {}; is the gradient table right?", counted(n, "volume"),
                       b_text(s), counted(distinct, "distinct direction")));
}

}  // namespace

bool shell::is_weighted() const { return max_b > max_b0_s_per_mm2; }

std::vector<shell> find_shells(const gradient_table& table) {
  constexpr double max_step = 100;  // s/mm2, between neighbours of one shell
  std::vector<std::size_t> order(table.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto& b = table.b_s_per_mm2;
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return b[i] < b[j]; });
  std::vector<shell> shells;
  for (const std::size_t i : order) {
    const bool starts = shells.empty() || b[i] - shells.back().max_b > max_step ||
                        shells.back().is_weighted() != (b[i] > max_b0_s_per_mm2);
    if (starts) shells.push_back({b[i], b[i], {}, {}});
    shells.back().max_b = b[i];
    shells.back().volumes.push_back(i);
    shells.back().directions.push_back({table.x[i], table.y[i], table.z[i]});
  }
  return shells;
}

gradient_table stored_gradients(const result_reader& r) {
  const constant *b = r.find_constant("inputs", "bvals"), *g = r.find_constant("inputs", "bvecs");
  if (b == nullptr || g == nullptr || g->values.size() != 3 * b->values.size()) return {};
  const auto n = static_cast<std::ptrdiff_t>(b->values.size());
  const auto x = g->values.begin();
  return {{x, x + n}, {x + n, x + 2 * n}, {x + 2 * n, x + 3 * n}, b->values};
}

std::string b_text(const shell& s) {
  return s.min_b == s.max_b ? fmt::format("{:.6g}", s.min_b) : fmt::format("{:.6g} to {:.6g}", s.min_b, s.max_b);
}

void add_gradients(draft& d, const gradient_table& table) {
  const std::vector<shell> shells = find_shells(table);
  if (shells.empty()) return;
  section& s = d.add_section("Gradients");
  s.tables.push_back({"Volumes of each shell", {"b (s/mm2)", "volumes", "largest gap (degrees)"}, {}});
  nlohmann::json list = nlohmann::json::array();
  for (const shell& one : shells) {
    const bool weighted = one.is_weighted();
    const double gap = weighted ? largest_gap(one.directions) : 0;
    s.tables.back().rows.push_back(
        {b_text(one), std::to_string(one.directions.size()), weighted ? fmt::format("{:.0f}", gap) : ""});
    list.push_back({{"min_b", one.min_b}, {"max_b", one.max_b}, {"volumes", one.directions.size()}});
    if (!weighted) continue;
    const std::string text =
        fmt::format("{} at b = {} s/mm2.", counted(one.directions.size(), "direction"), b_text(one));
    s.figures.push_back(
        {fmt::format("b = {} s/mm2", b_text(one)),
         draw_hemisphere(one.directions, text),
         text + fmt::format(" The hemisphere is seen from above, hollow points are opposites; no axis is "
                            "further than {:.0f}° from a direction (about {:.0f}° if they were evenly spread).",
                            gap, even_gap(one.directions.size() - count_repeated(one.directions))),
         {},
         false});
    warn_about_directions(d, one, gap);
  }
  d.out.numbers["shells"] = list;
}

std::string acquisition_text(const gradient_table& table) {
  std::string text;
  for (const shell& s : find_shells(table))
    text += fmt::format("{}{} at b = {}", text.empty() ? "" : ", ", counted(s.directions.size(), "volume"), b_text(s));
  return text.empty() ? "" : fmt::format("The series had {} s/mm2. ", text);
}

}  // namespace voxherd::report
