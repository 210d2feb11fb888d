#include "kernels/perfusion/start_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace voxherd::perfusion {

namespace {

/// The input as a line through nodes: the first is 0, one frame before the frames; after the last it is constant.
struct line {
  std::vector<double> time_s, value;

  line(const time_course& t, const std::vector<double>& input) {
    const std::size_t n = t.frames();
    const double spacing = t.spacing_s();
    time_s.push_back(0);
    value.push_back(0);
    for (std::size_t i = 0; i < n; ++i) {
      time_s.push_back(spacing > 0 ? spacing * static_cast<double>(i) : t.time_s[i] - t.time_s[0]);
      value.push_back(input[i]);
    }
    time_s[0] = n > 1 ? -time_s[2] : -1;
  }

  /// The node at or before s; s is not before the first one.
  std::size_t node_before(double s) const {
    return static_cast<std::size_t>(std::upper_bound(time_s.begin(), time_s.end(), s) - time_s.begin()) - 1;
  }
  double slope_after(std::size_t j) const {
    return j + 1 < value.size() ? (value[j + 1] - value[j]) / (time_s[j + 1] - time_s[j]) : 0;
  }
  double at(double s) const {
    if (s < time_s[0]) return 0;
    const std::size_t j = node_before(s);
    return value[j] + slope_after(j) * (s - time_s[j]);
  }
};

/// The rest after s seconds of `before` and of an input that started at `level` and increased by `slope`.
double carried(double before, double level, double slope, double k, double s) {
  const double x = k * s;
  const double i0 = x < 1e-6 ? s * (1 - x / 2) : -std::expm1(-x) / k;
  const double i1 = x < 1e-3 ? s * s * (0.5 - x / 6 + x * x / 24) : (s - i0) / k;
  return std::exp(-x) * before + level * i0 + slope * i1;
}

std::vector<double> exact_curve(const line& input, double k, double tau_s) {
  const std::size_t nodes = input.value.size();
  std::vector<double> at_node(nodes), curve(nodes - 1);
  for (std::size_t j = 1; j < nodes; ++j)
    at_node[j] =
        carried(at_node[j - 1], input.value[j - 1], input.slope_after(j - 1), k, input.time_s[j] - input.time_s[j - 1]);
  for (std::size_t i = 0; i + 1 < nodes; ++i) {
    const double s = input.time_s[i + 1] - tau_s;
    if (s < input.time_s[0]) continue;
    const std::size_t j = input.node_before(s);
    curve[i] = carried(at_node[j], input.value[j], input.slope_after(j), k, s - input.time_s[j]);
  }
  return curve;
}

std::vector<double> paper_curve(const line& input, double k, double tau_s) {
  std::vector<double> curve(input.value.size() - 1);
  double before = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double step_s = input.time_s[i + 1] - input.time_s[i];
    before = std::exp(-k * step_s) * before + step_s * input.at(input.time_s[i + 1] - tau_s);
    curve[i] = before;
  }
  return curve;
}

}  // namespace

std::vector<double> unit_curve(const time_course& t, const std::vector<double>& input, double rate_per_s, double tau_s,
                               discretisation_kind how) {
  const line nodes(t, input);
  return how == discretisation_kind::exact ? exact_curve(nodes, rate_per_s, tau_s)
                                           : paper_curve(nodes, rate_per_s, tau_s);
}

namespace {

/// Values usual in livers, within the limits of the rule.
struct range {
  double least, most;

  range(const parameter_rule& rule, double min_usual, double max_usual)
      : least(std::max(rule.least, min_usual)), most(std::min(rule.most, max_usual)) {
    if (rule.fixed) least = most = rule.start;
    if (least > most) least = rule.least, most = rule.most;
  }
  float at(double way) const { return static_cast<float>(least + (most - least) * way); }
};

/// 55 to 2000 ml/100 g/min: a fit converges from a factor of 2.
void put_rates(const parameter_rule& rule, start_table_view& facts) {
  const range r(rule, 55 / per_second, 2000 / per_second);
  facts.rates = rule.fixed ? 1 : start_rates;
  for (int i = 0; i < facts.rates; ++i)
    facts.rate_per_s[i] =
        static_cast<float>(r.least * std::pow(r.most / r.least, static_cast<double>(i) / (start_rates - 1)));
}

/// Up to 12 and 10 s, early ones closer together, because they are more usual.
void put_delays(const fit_settings& s, start_table_view& facts) {
  constexpr std::array portal_way{0.1, 0.28, 0.55, 1.0};
  static_assert(portal_way.size() == start_portal_delays);
  const range arterial(s.rules[start_tissue::delay(0)], 0, 12), portal(s.rules[start_tissue::delay(1)], 0, 10);
  float* delay_s = facts.delay_s;
  for (int i = 0; i < start_arterial_delays; ++i)
    *delay_s++ = arterial.at(std::pow(static_cast<double>(i) / (start_arterial_delays - 1), 1.4));
  for (const double way : portal_way) *delay_s++ = portal.at(way);
}

void put_rules(const fit_settings& s, start_table_view& facts) {
  for (int i = 0; i < start_tissue::count; ++i) {
    const parameter_rule& rule = s.rules[static_cast<std::size_t>(i)];
    facts.start[i] = rule.start;
    facts.least[i] = rule.fixed ? rule.start : rule.least;
    facts.most[i] = rule.fixed ? rule.start : rule.most;
  }
  for (int i = 0; i < start_tissue::inputs; ++i) {
    const parameter_rule& rule = s.rules[static_cast<std::size_t>(start_tissue::flow(i))];
    facts.given[i] = rule.fixed && rule.start != 0;
    facts.flow[i] = rule.fixed ? static_cast<float>(rule.start) : 0.0f;
  }
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Scales a curve to length 1 over the fitted frames, with zeros elsewhere; returns its former length.
double normalise(std::vector<double>& curve, const std::vector<std::uint8_t>& counts) {
  for (std::size_t i = 0; i < curve.size(); ++i)
    if (counts[i] == 0) curve[i] = 0;
  const double length = std::sqrt(dot(curve, curve));
  if (length > 0)
    for (double& c : curve) c /= length;
  return length;
}

std::array<float, 2> pair_of(const std::vector<double>& a, const std::vector<double>& p) {
  const double r = dot(a, p), rest = 1 - r * r;
  // Curves that are equal in float: 0 gives the flow to one of them.
  return {static_cast<float>(r), rest > 1e-6 ? static_cast<float>(1 / rest) : 0.0f};
}

float& float_at(std::vector<four_floats>& values, std::size_t first_four, std::size_t i) {
  return values[first_four + i / 4].at[i % 4];
}

}  // namespace

start_table::start_table(const time_course& t, const fit_settings& s) {
  facts_.frames = static_cast<int>(t.frames());
  put_rules(s, facts_);
  put_rates(s.rules[start_tissue::rate], facts_);
  put_delays(s, facts_);
  const auto fours =
      t.frames() * start_table_view::column_fours + start_table_view::pair_fours + start_table_view::column_fours;
  values_.resize(static_cast<std::size_t>(facts_.rates) * fours);
  for (int rate = 0; rate < facts_.rates; ++rate) add_rate(rate, t, s);
}

start_table_view start_table::view_of(const four_floats* values) const {
  start_table_view v = facts_;
  v.columns = values;
  v.pairs = v.columns + v.rates * v.frames * start_table_view::column_fours;
  v.lengths = v.pairs + v.rates * start_table_view::pair_fours;
  return v;
}

void start_table::add_rate(int rate, const time_course& t, const fit_settings& s) {
  const start_table_view v = view();
  const auto row = static_cast<std::size_t>(rate);
  const auto place_of = [&](const four_floats* first) { return static_cast<std::size_t>(first - values_.data()); };
  const std::size_t columns = place_of(v.columns) + row * t.frames() * start_table_view::column_fours;
  const std::size_t pairs = place_of(v.pairs) + row * start_table_view::pair_fours;
  const std::size_t lengths = place_of(v.lengths) + row * start_table_view::column_fours;

  std::array<std::vector<double>, start_curves> curve;
  for (std::size_t c = 0; c < start_curves; ++c) {
    const bool arterial = c < start_arterial_delays;
    curve[c] = unit_curve(t, arterial ? t.arterial : t.portal, static_cast<double>(v.rate_per_s[rate]),
                          static_cast<double>(v.delay_s[c]), s.discretisation);
    const parameter_rule& flow = s.rules[static_cast<std::size_t>(start_tissue::flow(arterial ? 0 : 1))];
    if (flow.fixed && flow.start == 0) curve[c].assign(t.frames(), 0);
    float_at(values_, lengths, c) = static_cast<float>(normalise(curve[c], t.counts));
    for (std::size_t i = 0; i < t.frames(); ++i)
      float_at(values_, columns + i * start_table_view::column_fours, c) = static_cast<float>(curve[c][i]);
  }
  for (std::size_t i = 0; i < start_pairs; ++i) {
    const auto [r, inverse] =
        pair_of(curve[i / start_portal_delays], curve[start_arterial_delays + i % start_portal_delays]);
    float_at(values_, pairs, 2 * i) = r;
    float_at(values_, pairs, 2 * i + 1) = inverse;
  }
}

}  // namespace voxherd::perfusion
