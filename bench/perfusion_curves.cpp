#include "bench/perfusion_curves.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/phantom/phantom_signals.hpp"
#include "tests/perfusion/reference/perfusion_reference_fit.hpp"

namespace voxherd::bench {

namespace {

using namespace perfusion;

constexpr double arrival_s = 10, scan_s = 120;

/// Interpolates a curve of evenly spaced values: 0 before -1, linear from there to its first value, constant after the
/// last.
double value_at(const std::vector<double>& curve, double place) {
  if (place <= -1) return 0;
  if (place < 0) return curve.front() * (place + 1);
  const auto before = static_cast<std::size_t>(place);
  if (before + 1 >= curve.size()) return curve.back();
  const double part = place - static_cast<double>(before);
  return curve[before] + part * (curve[before + 1] - curve[before]);
}

/// The integral of C(s) exp(-k (t - s)) over a piece of `length` s that starts at value c and increases by slope, to be
/// added to the earlier integral.
double after(double before, double c, double slope, double k, double length) {
  const double fading = std::exp(-k * length), whole = -std::expm1(-k * length) / k;
  return fading * before + c * whole + slope * (length - whole) / k;
}

/// The exact convolution of a curve with exp(-k t) at every frame, delayed by tau.
std::vector<double> faded(const std::vector<double>& curve, double spacing, double k, double tau) {
  const int frames = static_cast<int>(curve.size());
  tau = std::clamp(tau, -frames * spacing, frames * spacing);  // beyond, the curve is zero or constant
  std::vector<double> at_nodes{0};                             // from node -1
  const auto node = [&](int j) { return value_at(curve, j); };
  const auto slope = [&](int j) { return (node(j + 1) - node(j)) / spacing; };
  for (int j = -1; j <= 2 * frames; ++j) at_nodes.push_back(after(at_nodes.back(), node(j), slope(j), k, spacing));
  std::vector<double> values;
  for (int i = 0; i < frames; ++i) {
    const double place = i - tau / spacing, whole = std::floor(place);
    const int j = static_cast<int>(whole);
    values.push_back(
        j < -1 ? 0 : after(at_nodes[static_cast<std::size_t>(j + 1)], node(j), slope(j), k, (place - whole) * spacing));
  }
  return values;
}

}  // namespace

time_course paper_inputs(int frames) {
  static const input_curves every_second = make_input_curves(arrival_s, 1, static_cast<std::size_t>(scan_s) + 1);
  const double spacing = frames == 48 ? 2.37 : scan_s / frames;
  time_course t;
  for (int i = 0; i < frames; ++i) {
    t.time_s.push_back(i * spacing);
    t.arterial.push_back(value_at(every_second.arterial, i * spacing));
    t.portal.push_back(value_at(every_second.portal, i * spacing));
    t.counts.push_back(1);
  }
  return t;
}

std::vector<double> tissue_curve(const time_course& t, const perfusion_parameters& p, discretisation_kind how) {
  const double spacing = t.spacing_s();
  if (!(spacing > 0)) throw std::invalid_argument("tissue_curve: expected evenly spaced frames");
  if (how == discretisation_kind::exact) {
    auto c = faded(t.arterial, spacing, p[kl], p[tau_a]);
    const auto from_portal = faded(t.portal, spacing, p[kl], p[tau_p]);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = p[ka] * c[i] + p[kp] * from_portal[i];
    return c;
  }
  std::vector<double> c;
  const double fading = std::exp(-p[kl] * spacing);
  for (std::size_t i = 0; i < t.frames(); ++i) {
    const auto place = [&](double tau) { return static_cast<double>(i) - tau / spacing; };
    const double inflow = p[ka] * value_at(t.arterial, place(p[tau_a])) + p[kp] * value_at(t.portal, place(p[tau_p]));
    c.push_back((c.empty() ? 0 : fading * c.back()) + spacing * inflow);
  }
  return c;
}

perfusion_parameters min_deviations(const time_course& t, const perfusion_parameters& p, discretisation_kind how,
                                    double noise_sd) {
  const auto inverse = reference::inverse_information(t, how, p, {});
  perfusion_parameters sd{};
  for (std::size_t i = 0; i < dual_parameters; ++i) sd[i] = noise_sd * std::sqrt(inverse[i][i]);
  return sd;
}

}  // namespace voxherd::bench
