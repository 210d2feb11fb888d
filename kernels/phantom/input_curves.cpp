#include "kernels/phantom/input_curves.hpp"

#include <cmath>
#include <numbers>

namespace voxherd {

namespace {

constexpr double s_per_min = 60;

/// Unnormalised response, t in minutes.
double raw_response(double t) {
  if (t < 0.08) return 0;
  if (t < 0.17) return std::fmax(24.16 * t - 2.01, 0.0);  // the line starts below 0
  return 2.83 * std::exp(-10.8 * t) + 2.12 * std::exp(-1.82 * t);
}

/// Integral of raw_response in minutes: a triangle and two exponentials.
double raw_area() {
  const double from = 2.01 / 24.16, to = 0.17;
  return 24.16 * (to - from) * (to - from) / 2 + 2.83 / 10.8 * std::exp(-10.8 * to) +
         2.12 / 1.82 * std::exp(-1.82 * to);
}

}  // namespace

double parker_mM(double s_since_arrival) {
  if (s_since_arrival < 0) return 0;
  const double t = s_since_arrival / s_per_min;
  struct bolus {
    double area_mM_min, time_min, width_min;
  };
  double sum = 1.050 * std::exp(-0.1685 * t) / (1 + std::exp(-38.078 * (t - 0.483)));
  for (const bolus& b : {bolus{0.809, 0.17046, 0.0563}, bolus{0.330, 0.365, 0.132}}) {
    const double z = (t - b.time_min) / b.width_min;
    sum += b.area_mM_min / (b.width_min * std::sqrt(2 * std::numbers::pi)) * std::exp(-z * z / 2);
  }
  return sum;
}

double portal_response_per_s(double s) { return raw_response(s / s_per_min) / (raw_area() * s_per_min); }

input_curves make_input_curves(double arrival_s, double step_s, std::size_t count) {
  input_curves curves;
  curves.step_s = step_s;
  for (std::size_t i = 0; i < count; ++i) {
    const double since = static_cast<double>(i) * step_s - arrival_s;
    curves.arterial.push_back(parker_mM(since));
    // Midpoint rule: avoids the jumps of both curves, and is of second order.
    constexpr double fine_s = 0.02;
    const auto parts = static_cast<std::size_t>(std::ceil(std::fmax(since, 0.0) / fine_s));
    const double width_s = parts > 0 ? since / static_cast<double>(parts) : 0;
    double sum = 0;
    for (std::size_t j = 0; j < parts; ++j) {
      const double at_s = (static_cast<double>(j) + 0.5) * width_s;
      sum += parker_mM(since - at_s) * portal_response_per_s(at_s);
    }
    curves.portal.push_back(sum * width_s);
  }
  return curves;
}

}  // namespace voxherd
