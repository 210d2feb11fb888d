#include "tests/perfusion/reference/perfusion_reference_linear.hpp"

#include <cmath>

namespace voxherd::reference {

namespace {

using namespace perfusion;
using real = long double;

std::vector<real> trapezoids(const time_course& f, const std::vector<double>& y) {
  std::vector<real> integral(y.size());
  real sum = 0, before = 0, time = f.time_s.front();
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (f.counts[i] != 0) {
      sum += (f.time_s[i] - time) * (before + y[i]) / 2;
      before = y[i], time = f.time_s[i];
    }
    integral[i] = sum;
  }
  return integral;
}

}  // namespace

perfusion_parameters murase_fit(const time_course& frames, const std::vector<double>& y,
                                const perfusion_parameters& given, const std::array<bool, 3>& fixed) {
  const auto own = trapezoids(frames, y);
  real matrix[3][3] = {}, right[3] = {};
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (frames.counts[i] == 0) continue;
    const double t = frames.time_s[i] - frames.time_s.front();
    const real column[3] = {-own[i], convolved_input(frames, frames.arterial, 0, t - given[tau_a]),
                            convolved_input(frames, frames.portal, 0, t - given[tau_p])};
    real rest = y[i];
    for (std::size_t a = 0; a < 3; ++a) rest -= fixed[a] ? column[a] * given[a] : 0;
    for (std::size_t a = 0; a < 3; ++a) {
      right[a] += fixed[a] ? 0 : column[a] * rest;
      for (std::size_t b = 0; b < 3; ++b) matrix[a][b] += fixed[a] || fixed[b] ? 0 : column[a] * column[b];
    }
  }
  for (std::size_t a = 0; a < 3; ++a)
    if (fixed[a]) matrix[a][a] = 1;
  perfusion_parameters p = given;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t r = i + 1; r < 3; ++r) {
      const real factor = matrix[r][i] / matrix[i][i];
      for (std::size_t c = i; c < 3; ++c) matrix[r][c] -= factor * matrix[i][c];
      right[r] -= factor * right[i];
    }
  real x[3] = {};
  for (std::size_t i = 3; i-- > 0;) {
    x[i] = right[i];
    for (std::size_t c = i + 1; c < 3; ++c) x[i] -= matrix[i][c] * x[c];
    x[i] /= matrix[i][i];
    if (!fixed[i]) p[i] = static_cast<double>(x[i]);
  }
  return p;
}

}  // namespace voxherd::reference
