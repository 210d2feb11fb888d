#include "src/show/matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "core/escape.hpp"
#include "src/show/chart.hpp"
#include "src/show/pictures.hpp"

namespace voxherd::report {

namespace {

/// Clusters that are merged pair by pair; each keeps the number of its first item.
class clusters {
 public:
  clusters(std::size_t n, const std::function<double(std::size_t, std::size_t)>& distance)
      : n_(n), between_(n * n), leaves_(n), distance_(distance) {
    for (std::size_t i = 0; i < n; ++i) {
      leaves_[i] = {i};
      for (std::size_t k = 0; k < n; ++k) between_[i * n + k] = distance(i, k);
    }
  }

  bool exists(std::size_t i) const { return !leaves_[i].empty(); }
  double between(std::size_t i, std::size_t k) const { return between_[i * n_ + k]; }

  /// The closest other cluster; `preferred` if none is closer than that.
  std::size_t nearest(std::size_t i, std::size_t preferred) const {
    std::size_t best = preferred;
    for (std::size_t k = 0; k < n_; ++k)
      if (k != i && exists(k) && (best == n_ || between(i, k) < between(i, best))) best = k;
    return best;
  }

  void merge(std::size_t i, std::size_t k) {
    const auto a = static_cast<double>(leaves_[i].size()), b = static_cast<double>(leaves_[k].size());
    for (std::size_t m = 0; m < n_; ++m)
      between_[i * n_ + m] = between_[m * n_ + i] = (a * between(i, m) + b * between(k, m)) / (a + b);
    join(leaves_[i], leaves_[k]);
  }

  std::vector<std::size_t>& leaves(std::size_t i) { return leaves_[i]; }

 private:
  /// Turns both lists so that their closest ends meet.
  void join(std::vector<std::size_t>& one, std::vector<std::size_t>& other) {
    const double ends[] = {distance_(one.back(), other.front()), distance_(one.back(), other.back()),
                           distance_(one.front(), other.front()), distance_(one.front(), other.back())};
    const auto best = std::min_element(ends, ends + 4) - ends;
    if (best >= 2) std::reverse(one.begin(), one.end());
    if (best % 2 == 1) std::reverse(other.begin(), other.end());
    one.insert(one.end(), other.begin(), other.end());
    other.clear();
  }

  std::size_t n_;
  std::vector<double> between_;
  std::vector<std::vector<std::size_t>> leaves_;
  const std::function<double(std::size_t, std::size_t)>& distance_;
};

/// An order in which close items are next to each other: the leaves of an average-linkage clustering (Sokal & Michener
/// 1958). `distance` is symmetric. Follows chains of nearest neighbours until two clusters are each other's nearest
/// (Murtagh 1983): n^2 steps.
std::vector<std::size_t> cluster_order(std::size_t n, const std::function<double(std::size_t, std::size_t)>& distance) {
  if (n == 0) return {};
  clusters all(n, distance);
  std::vector<std::size_t> chain;
  std::size_t last = 0;
  for (std::size_t remaining = n; remaining > 1;) {
    if (chain.empty())
      for (std::size_t i = 0; chain.empty(); ++i)
        if (all.exists(i)) chain.push_back(i);
    const std::size_t newest = chain.back(), before = chain.size() > 1 ? chain[chain.size() - 2] : n;
    const std::size_t next = all.nearest(newest, before);
    if (next != before) {
      chain.push_back(next);
      continue;
    }
    chain.resize(chain.size() - 2);
    last = std::min(newest, next);
    all.merge(last, std::max(newest, next));
    --remaining;
  }
  return all.leaves(last);
}

constexpr auto group = "connectome";
constexpr std::size_t few = 30;         // regions with a complete table
constexpr std::size_t max_named = 200;  // regions with names beside the picture

std::vector<std::string> region_names(const result_reader& r, std::size_t n) {
  const auto& configuration = r.configuration();
  std::vector<std::string> names;
  if (configuration.is_object() && configuration.contains("region-names"))
    for (const auto& name : configuration.at("region-names")) names.push_back(name.get<std::string>());
  if (names.size() == n) return names;
  names.clear();
  const constant* labels = r.find_constant(group, "labels");
  for (std::size_t i = 0; i < n; ++i)
    names.push_back(labels != nullptr && labels->values.size() == n ? fmt::format("{}", labels->values[i])
                                                                    : std::to_string(i + 1));
  return names;
}

struct square {
  const constant& c;
  best which;
  std::size_t n() const { return c.shape[0]; }
  double value(std::size_t row, std::size_t column) const { return c.values[row * n() + column]; }
  bool is_connected(std::size_t row, std::size_t column) const {
    const double v = value(row, column);
    return row != column && std::isfinite(v) && (which == best::smallest || v != 0);
  }
  /// Both directions of each pair have the same value.
  bool is_symmetric() const {
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (value(i, k) != value(k, i) && !(std::isnan(value(i, k)) && std::isnan(value(k, i)))) return false;
    return true;
  }
  /// The connected pairs, of a symmetric matrix each once.
  std::vector<std::pair<std::size_t, std::size_t>> pairs() const {
    const bool once = is_symmetric();
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t i = 0; i < n(); ++i)
      for (std::size_t k = once ? i + 1 : 0; k < n(); ++k)
        if (is_connected(i, k)) all.emplace_back(i, k);
    return all;
  }
};

distribution describe_pairs(const square& m) {
  std::vector<float> values;
  for (const auto& [i, k] : m.pairs()) values.push_back(static_cast<float>(m.value(i, k)));
  return describe_values(std::move(values));
}

/// Regions in an order in which strongly connected ones are next to each other; that of the page's first matrix.
std::vector<std::size_t> choose_order(draft& d, const square& m) {
  constexpr auto key = "region_order";
  constexpr std::size_t max_sorted = 2000;
  if (d.out.numbers.contains(key) && d.out.numbers.at(key).size() == m.n())
    return d.out.numbers.at(key).get<std::vector<std::size_t>>();
  double largest = 0;
  for (std::size_t i = 0; i < m.n(); ++i)
    for (std::size_t k = 0; k < m.n(); ++k)
      if (m.is_connected(i, k)) largest = std::max(largest, m.value(i, k));
  const auto strength = [&](std::size_t i, std::size_t k) {  // 0 to 1
    if (!m.is_connected(i, k) || largest <= 0) return 0.0;
    const double v = std::max(0.0, m.value(i, k));
    return m.which == best::smallest ? 1 - v / (2 * largest) : std::log1p(v) / std::log1p(largest);
  };
  std::vector<std::size_t> order(m.n());
  for (std::size_t i = 0; i < m.n(); ++i) order[i] = i;
  if (m.n() <= max_sorted)
    order = cluster_order(m.n(), [&](auto i, auto k) { return 1 - (strength(i, k) + strength(k, i)) / 2; });
  d.out.numbers[key] = order;
  return order;
}

/// Names at both edges and one square per pair.
std::string draw_named(const square& m, const std::vector<std::string>& names, const std::string& picture,
                       const std::string& description) {
  constexpr double letter = 7.2;
  std::size_t longest = 1;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  const double cell = m.n() <= 30 ? 22 : 13, room = 12 + letter * static_cast<double>(longest);
  const double side = cell * static_cast<double>(m.n());
  std::string marks;
  for (std::size_t i = 0; i < m.n(); ++i) {
    const double middle = room + cell * (static_cast<double>(i) + 0.5);
    fmt::format_to(std::back_inserter(marks),
                   "<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{2}</text><text transform=\"translate({3},{0}) "
                   "rotate(-90)\">{2}</text>\n",
                   room - 6, middle + 4, html_text(names[i]), middle + 4);
  }
  // Many names are legible only if the picture scrolls on small screens.
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{1}\"><svg "
      "style=\"max-width:{6:.0f}px;min-width:{7:.0f}px\" viewBox=\"0 0 {0:.1f} {0:.1f}\" role=\"img\" "
      "aria-label=\"{1}\">\n{2}<image x=\"{3}\" y=\"{3}\" "
      "width=\"{4}\" height=\"{4}\" style=\"image-rendering:pixelated\" "
      "href=\"data:image/png;base64,{5}\"/></svg></div>\n",
      room + side, html_text(description), marks, room, side, picture, 1.3 * (room + side), 0.75 * (room + side));
}

table all_pairs(const square& m, const std::vector<std::string>& names) {
  table t{with_unit(m.c.name, m.c.unit), {m.is_symmetric() ? "region" : "from \\ to"}, {}};
  t.header.insert(t.header.end(), names.begin(), names.end());
  for (std::size_t i = 0; i < m.n(); ++i) {
    t.rows.push_back({names[i]});
    for (std::size_t k = 0; k < m.n(); ++k) t.rows.back().push_back(number_text(m.value(i, k)));
  }
  return t;
}

table best_pairs(const square& m, const std::vector<std::string>& names) {
  constexpr std::size_t max_pairs = 30;
  std::vector<std::pair<std::size_t, std::size_t>> pairs = m.pairs();
  std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
    const double x = m.value(a.first, a.second), y = m.value(b.first, b.second);
    return m.which == best::smallest ? x < y : x > y;
  });
  if (pairs.size() > max_pairs) pairs.resize(max_pairs);
  table t{
      fmt::format("{}: the {} {} pairs", m.c.name, m.which == best::smallest ? "smallest" : "largest", pairs.size()),
      m.is_symmetric() ? std::vector<std::string>{"region", "other region", with_unit(m.c.name, m.c.unit)}
                       : std::vector<std::string>{"from", "to", with_unit(m.c.name, m.c.unit)},
      {}};
  for (const auto& [i, k] : pairs) t.rows.push_back({names[i], names[k], number_text(m.value(i, k))});
  return t;
}

/// The number of connections of each region and the mean of their values, the best region first.
table region_strengths(const square& m, const std::vector<std::string>& names) {
  constexpr std::size_t max_regions = 200;
  struct region {
    std::size_t number = 0, connections = 0;
    double mean = 0;
  };
  std::vector<region> regions(m.n());
  for (std::size_t i = 0; i < m.n(); ++i) regions[i].number = i;
  for (const auto& [from, to] : m.pairs())
    for (const std::size_t i : {from, to}) regions[i].mean += m.value(from, to), ++regions[i].connections;
  for (region& r : regions)
    if (r.connections > 0) r.mean /= static_cast<double>(r.connections);
  std::stable_sort(regions.begin(), regions.end(), [&](const region& a, const region& b) {
    if ((a.connections == 0) != (b.connections == 0)) return b.connections == 0;
    return m.which == best::smallest ? a.mean < b.mean : a.mean > b.mean;
  });
  if (regions.size() > max_regions) regions.resize(max_regions);
  table t{fmt::format("{}: regions by the mean of their connections{}", m.c.name,
                      m.is_symmetric() ? "" : ", in both directions"),
          {"region", "connections", with_unit("mean", m.c.unit)},
          {}};
  for (const region& r : regions)
    t.rows.push_back({names[r.number], std::to_string(r.connections), r.connections > 0 ? number_text(r.mean) : ""});
  return t;
}

}  // namespace

void add_matrix(result_draft& d, const std::string& name, best which, names_shown shown) {
  const constant* c = d.result.find_constant(group, name);
  if (c == nullptr || c->shape.size() != 2 || c->shape[0] != c->shape[1] || c->shape[0] == 0) return;
  const square m{*c, which};
  const std::vector<std::string> names = region_names(d.result, m.n());
  const distribution q = describe_pairs(m);
  const double first = q.min >= 0 ? 0 : q.min, last = q.q98 > first ? q.q98 : first + 1;
  const bool is_first = !d.out.numbers.contains("region_order");
  const std::vector<std::size_t> order = choose_order(d, m);
  std::vector<std::string> sorted_names;
  for (const std::size_t i : order) sorted_names.push_back(names[i]);
  rgb_image image(m.n(), m.n());
  for (std::size_t y = 0; y < m.n(); ++y)
    for (std::size_t x = 0; x < m.n(); ++x)
      if (m.is_connected(order[y], order[x]))
        image.set(x, y, map_colour(colour_map::viridis, (m.value(order[y], order[x]) - first) / (last - first)));
  const bool is_symmetric = m.is_symmetric();
  const std::size_t possible = m.n() * (m.n() - 1) / (is_symmetric ? 2 : 1);
  const std::string text =
      fmt::format("{} of {} pairs of {} regions are connected; median {:.4g}.", q.values, possible, m.n(), q.median);
  const bool is_named = m.n() <= max_named && (shown == names_shown::yes || m.n() <= few);
  const std::string picture =
      is_named ? draw_named(m, sorted_names, base64(encode_png(image)), text) : image_markup(image, text, 1, false);
  figure f{
      with_unit(name, c->unit),
      picture + colour_bar(colour_map::viridis, first, last, c->unit),
      explain(
          name, c->meaning,
          text +
              (is_symmetric ? " Black: none." : " Rows are where paths begin, columns where they end; black: none.") +
              (is_first ? " Regions are sorted so that strongly connected ones are next to each other (average "
                          "linkage); all matrices of the page have the same order."
                        : "")),
      {best_pairs(m, names), region_strengths(m, names)},
      is_named && m.n() > few};
  if (m.n() <= few) f.tables.push_back(all_pairs(m, names));
  d.out.sections.back().figures.push_back(std::move(f));
  d.out.numbers["regions"] = names;
  constexpr std::size_t max_listed = 1000;
  if (m.n() > max_listed) return;
  nlohmann::json rows = nlohmann::json::array();
  for (const double v : c->values) rows.push_back(std::isfinite(v) ? nlohmann::json(v) : nlohmann::json());
  d.out.numbers["matrices"][name] = {{"unit", c->unit}, {"values", rows}};
}

}  // namespace voxherd::report
