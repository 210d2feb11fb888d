#include "kernels/phantom/phantom_signals.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

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

namespace {

/// Voxels computed together: their recursions are independent, so that the compiler can vectorise them.
constexpr std::size_t width = 8;
using lanes = std::array<double, width>;

/// Effect of a time s on a compartment with rate k and input c + m s: C -> decay C + constant c + slope m.
struct step {
  double decay, constant, slope;
};

step step_over(double k, double s) {
  const double x = k * s;
  if (x < 1e-3)  // the quotients below would lose precision
    return {std::exp(-x), s * (1 - x / 2 + x * x / 6 - x * x * x / 24),
            s * s * (0.5 - x / 6 + x * x / 24 - x * x * x / 120)};
  const double recovered = -std::expm1(-x);
  const double constant = recovered / k;
  return {1 - recovered, constant, (s - constant) / k};
}

/// G at every node: the convolution of the input with exp(-k t), for each lane's k.
void convolve(const std::vector<double>& input, double step_s, const lanes& k, std::vector<lanes>& G) {
  lanes decay, from, to;
  for (std::size_t l = 0; l < width; ++l) {
    const step full = step_over(k[l], step_s);
    decay[l] = full.decay;
    to[l] = full.slope / step_s;
    from[l] = full.constant - to[l];
  }
  G.resize(input.size());
  G[0].fill(0);
  for (std::size_t j = 1; j < input.size(); ++j)
    for (std::size_t l = 0; l < width; ++l)
      G[j][l] = decay[l] * G[j - 1][l] + from[l] * input[j - 1] + to[l] * input[j];
}

/// G between nodes.
double at(const std::vector<double>& input, double step_s, const std::vector<lanes>& G, std::size_t lane, double k,
          double time_s) {
  if (time_s <= 0) return 0;
  const auto j = std::min(static_cast<std::size_t>(time_s / step_s), input.size() - 2);
  const step rest = step_over(k, time_s - static_cast<double>(j) * step_s);
  return rest.decay * G[j][lane] + rest.constant * input[j] + rest.slope * (input[j + 1] - input[j]) / step_s;
}

}  // namespace

tissue_curves::tissue_curves(input_curves inputs, std::vector<double> frame_s)
    : inputs_(std::move(inputs)), frame_s_(std::move(frame_s)) {
  const std::size_t nodes = inputs_.arterial.size();
  if (nodes < 2 || inputs_.portal.size() != nodes || !(inputs_.step_s > 0))
    throw std::invalid_argument("expected input curves with at least two nodes, as many portal as arterial ones");
  const double last_s = inputs_.step_s * static_cast<double>(nodes - 1);
  if (frame_s_.empty() || frame_s_.front() < 0 || frame_s_.back() > last_s * (1 + 1e-12))
    throw std::invalid_argument("a frame is outside the time range of the input curves");
}

void tissue_curves::make(std::span<const liver_parameters> voxels, double* out) const {
  const std::vector<double>* const inputs[] = {&inputs_.arterial, &inputs_.portal};
  static_assert(std::size(inputs) == liver_model::inputs);
  std::vector<lanes> convolved[liver_model::inputs];
  for (std::size_t first = 0; first < voxels.size(); first += width) {
    const std::size_t count = std::min(width, voxels.size() - first);
    lanes k;
    for (std::size_t l = 0; l < width; ++l) k[l] = voxels[first + std::min(l, count - 1)][liver_model::rate];
    for (int n = 0; n < liver_model::inputs; ++n) convolve(*inputs[n], inputs_.step_s, k, convolved[n]);
    for (std::size_t l = 0; l < count; ++l) {
      const double* const p = voxels[first + l].data();
      for (std::size_t i = 0; i < frames(); ++i) {
        double sum = 0;
        for (int n = 0; n < liver_model::inputs; ++n)
          sum += p[liver_model::flow(n)] *
                 at(*inputs[n], inputs_.step_s, convolved[n], l, k[l], frame_s_[i] - p[liver_model::delay(n)]);
        out[(first + l) * frames() + i] = sum;
      }
    }
  }
}

}  // namespace voxherd
