#include "kernels/phantom/tissue_curves.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace voxherd {

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
  using namespace perfusion;
  std::vector<lanes> arterial, portal;
  for (std::size_t first = 0; first < voxels.size(); first += width) {
    const std::size_t count = std::min(width, voxels.size() - first);
    lanes k;
    for (std::size_t l = 0; l < width; ++l) k[l] = voxels[first + std::min(l, count - 1)][kl];
    convolve(inputs_.arterial, inputs_.step_s, k, arterial);
    convolve(inputs_.portal, inputs_.step_s, k, portal);
    for (std::size_t l = 0; l < count; ++l) {
      const liver_parameters& p = voxels[first + l];
      for (std::size_t i = 0; i < frames(); ++i)
        out[(first + l) * frames() + i] =
            p[ka] * at(inputs_.arterial, inputs_.step_s, arterial, l, k[l], frame_s_[i] - p[tau_a]) +
            p[kp] * at(inputs_.portal, inputs_.step_s, portal, l, k[l], frame_s_[i] - p[tau_p]);
    }
  }
}

}  // namespace voxherd
