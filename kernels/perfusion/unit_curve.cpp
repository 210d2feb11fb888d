#include "kernels/perfusion/unit_curve.hpp"

#include <algorithm>
#include <cmath>

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

std::vector<double> unit_curve(const time_course& t, const std::vector<double>& input, double kl_per_s, double tau_s,
                               discretisation_kind how) {
  const line nodes(t, input);
  return how == discretisation_kind::exact ? exact_curve(nodes, kl_per_s, tau_s) : paper_curve(nodes, kl_per_s, tau_s);
}

}  // namespace voxherd::perfusion
