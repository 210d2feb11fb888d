#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/perfusion/paper/block_fft_model.hpp"

/// Input curves and slow sums for the tests of convolutions.
namespace voxherd::perfusion::convolutions {

/// Smooth curves of a bolus with some noise, not zero at the first frame.
inline time_course test_course(int frames, double spacing_s) {
  std::mt19937_64 random(20120814);
  std::normal_distribution<double> noise(0, 0.02);
  time_course t;
  for (int i = 0; i < frames; ++i) {
    const double s = spacing_s * i, a = s / (spacing_s * 12), b = s / (spacing_s * 25);
    t.time_s.push_back(s);
    t.arterial.push_back(0.1 + 6 * a * a * std::exp(2 - 2 * a) + noise(random));
    t.portal.push_back(0.05 + 1.5 * b * b * std::exp(2 - 2 * b) + noise(random));
  }
  t.counts.assign(static_cast<std::size_t>(frames), 1);
  return t;
}

/// C_i = sum_{j <= i} x_j exp(-kl T (i - j)).
inline std::vector<double> direct_sum(const std::vector<double>& x, double kl_T) {
  std::vector<double> c;
  for (std::size_t i = 0; i < x.size(); ++i) {
    long double sum = 0;
    for (std::size_t j = 0; j <= i; ++j)
      sum +=
          static_cast<long double>(x[j]) * std::exp(-static_cast<long double>(kl_T) * static_cast<long double>(i - j));
    c.push_back(static_cast<double>(sum));
  }
  return c;
}

/// The paper's model: inputs read at the delayed times, zero before the first frame except for the rising line to it.
inline std::vector<double> paper_curve(const time_course& t, const double (&p)[dual_parameters]) {
  const double spacing_s = t.spacing_s();
  const auto input = [&](const std::vector<double>& curve, double s) {
    const double u = s / spacing_s, before = std::floor(u);
    const auto at = [&](double place) {
      return place < 0 ? 0 : curve[std::min(static_cast<std::size_t>(place), curve.size() - 1)];
    };
    return at(before) + (u - before) * (at(before + 1) - at(before));
  };
  std::vector<double> x;
  for (const double s : t.time_s)
    x.push_back(spacing_s * (p[ka] * input(t.arterial, s - p[tau_a]) + p[kp] * input(t.portal, s - p[tau_p])));
  return direct_sum(x, p[kl] * spacing_s);
}

/// Largest difference over the largest value.
inline double relative_error(const std::vector<double>& found, const std::vector<double>& truth) {
  double most = 0, worst = found.size() == truth.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < truth.size() && i < found.size(); ++i) {
    most = std::max(most, std::fabs(truth[i]));
    if (!(std::fabs(found[i] - truth[i]) <= worst)) worst = std::fabs(found[i] - truth[i]);
  }
  return worst / most;
}

}  // namespace voxherd::perfusion::convolutions
