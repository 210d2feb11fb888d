#include "src/tools/view/predicted_signal.hpp"

#include <cmath>

#include "kernels/ballstick/fit_signal.hpp"

namespace voxherd::view {

namespace {

using ballstick::diffusion_model;
namespace fitting = ballstick::fitting;

constexpr double um2_per_ms = 1e3;   // from mm2/s
constexpr double ms_per_um2 = 1e-3;  // from s/mm2

template <diffusion_model Model>
double predict(const ballstick_means& m, const weighted_gradient& g) {
  const double d = m.d * um2_per_ms, scale = m.d > 0 ? m.d_std * m.d_std / m.d * um2_per_ms : 0;
  double ball = 1 - m.f0, sum = m.f0;
  for (const auto& fibre : m.fibres) {
    const double along = g.q[0] * fibre.along[0] + g.q[1] * fibre.along[1] + g.q[2] * fibre.along[2];
    sum += fibre.fraction * fitting::stick_attenuation<Model>(along * along, g.b, d, scale, m.ratio).value;
    ball -= fibre.fraction;
  }
  return m.S0 * (sum + ball * fitting::ball_attenuation<Model>(g.b, d, scale).value);
}

}  // namespace

weighted_gradient weight(const gradient_table& t, std::size_t i, const std::vector<float>& deviation) {
  const double root = std::sqrt(t.b_s_per_mm2[i] * ms_per_um2);
  weighted_gradient g{{t.x[i] * root, t.y[i] * root, t.z[i] * root}, t.b_s_per_mm2[i] * ms_per_um2};
  if (deviation.size() != 9) return g;
  const std::array<double, 3> nominal = g.q;
  g.b = 0;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      g.q[row] += static_cast<double>(deviation[3 * column + row]) * nominal[column];
    g.b += g.q[row] * g.q[row];
  }
  return g;
}

double predict_signal(const ballstick_means& m, const weighted_gradient& g) {
  if (m.model == diffusion_model::mono_exponential) return predict<diffusion_model::mono_exponential>(m, g);
  if (m.model == diffusion_model::zeppelin) return predict<diffusion_model::zeppelin>(m, g);
  return predict<diffusion_model::gamma>(m, g);
}

}  // namespace voxherd::view
