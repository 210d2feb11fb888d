#include "tests/perfusion/reference/perfusion_reference.hpp"

#include <cmath>
#include <stdexcept>

namespace voxherd::reference {

namespace {

using namespace perfusion;

/// (1 - e^-x) / x
double phi1(double x) { return x == 0 ? 1 : -std::expm1(-x) / x; }

/// (x - 1 + e^-x) / x^2, computed by its series where the difference would cancel.
double phi2(double x) {
  if (std::fabs(x) > 1) return (x + std::expm1(-x)) / (x * x);
  double sum = 0, term = 0.5;
  for (int n = 3; n < 25; ++n) {
    sum += term;
    term *= -x / n;
  }
  return sum;
}

/// A linear piece of an input: value `from_value` at `from_s`, increasing by `slope` per second until `to_s`.
struct piece {
  double from_s, to_s, from_value, slope;
};

std::vector<piece> pieces_of(const time_course& f, const std::vector<double>& values) {
  const double first = f.time_s.front(), before = f.time_s[1] - f.time_s[0];
  std::vector<piece> pieces{{-before, 0, 0, values[0] / before}};
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double length = f.time_s[i + 1] - f.time_s[i];
    pieces.push_back({f.time_s[i] - first, f.time_s[i + 1] - first, values[i], (values[i + 1] - values[i]) / length});
  }
  pieces.push_back({f.time_s.back() - first, HUGE_VAL, values.back(), 0});
  return pieces;
}

perfusion_parameters scaled_flows(perfusion_parameters p, double factor) {
  for (const int i : {kl, ka, kp}) p[static_cast<std::size_t>(i)] *= factor;
  return p;
}

}  // namespace

perfusion_parameters kernel_units(const perfusion_parameters& p) { return scaled_flows(p, 1 / perfusion::per_second); }
perfusion_parameters map_units(const perfusion_parameters& p) { return scaled_flows(p, perfusion::per_second); }

double input_at(const time_course& frames, const std::vector<double>& values, double time_s) {
  for (const piece& s : pieces_of(frames, values))
    if (time_s >= s.from_s && time_s < s.to_s) return s.from_value + s.slope * (time_s - s.from_s);
  return 0;
}

namespace {

/// int c(u) e^{-k (end - u)} du over the first `length` seconds of a piece.
double convolved_part(const piece& s, double k, double length) {
  const double x = k * length;
  return length * (s.from_value * phi1(x) + s.slope * length * phi2(x));
}

class input_convolution {
 public:
  input_convolution(const time_course& frames, const std::vector<double>& values, double k)
      : k_(k), pieces_(pieces_of(frames, values)) {
    for (std::size_t i = 0; i + 1 < pieces_.size(); ++i)
      complete_.push_back(convolved_part(pieces_[i], k, pieces_[i].to_s - pieces_[i].from_s));
  }

  double at(double time_s) const {
    double sum = 0;
    for (std::size_t i = 0; i < pieces_.size() && pieces_[i].from_s < time_s; ++i) {
      const piece& s = pieces_[i];
      sum +=
          s.to_s < time_s ? std::exp(-k_ * (time_s - s.to_s)) * complete_[i] : convolved_part(s, k_, time_s - s.from_s);
    }
    return sum;
  }

 private:
  double k_;
  std::vector<piece> pieces_;
  std::vector<double> complete_;  ///< of each piece, at its own end
};

}  // namespace

double convolved_input(const time_course& frames, const std::vector<double>& values, double k, double time_s) {
  return input_convolution(frames, values, k).at(time_s);
}

std::vector<double> exact_curve(const time_course& frames, const perfusion_parameters& p) {
  const input_convolution arterial(frames, frames.arterial, p[kl]), portal(frames, frames.portal, p[kl]);
  std::vector<double> curve;
  for (const double time : frames.time_s) {
    const double t = time - frames.time_s.front();
    curve.push_back(p[ka] * arterial.at(t - p[tau_a]) + p[kp] * portal.at(t - p[tau_p]));
  }
  return curve;
}

std::vector<double> paper_curve(const time_course& frames, const perfusion_parameters& p) {
  const double T = frames.spacing_s();
  if (!(T > 0)) throw std::invalid_argument("the paper's sum is for even frames");
  std::vector<double> f, curve;
  for (std::size_t j = 0; j < frames.frames(); ++j) {
    const double t = static_cast<double>(j) * T;
    f.push_back(p[ka] * input_at(frames, frames.arterial, t - p[tau_a]) +
                p[kp] * input_at(frames, frames.portal, t - p[tau_p]));
  }
  for (std::size_t i = 0; i < f.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) sum += f[j] * std::exp(-p[kl] * (static_cast<double>(i - j) * T));
    curve.push_back(T * sum);
  }
  return curve;
}

std::vector<double> perfusion_curve(const time_course& frames, discretisation_kind how, const perfusion_parameters& p) {
  return how == discretisation_kind::exact ? exact_curve(frames, p) : paper_curve(frames, p);
}

double perfusion_cost(const time_course& frames, discretisation_kind how, const perfusion_parameters& p,
                      const std::vector<double>& y) {
  const auto curve = perfusion_curve(frames, how, p);
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (frames.counts[i] != 0) sum += (y[i] - curve[i]) * (y[i] - curve[i]);
  return sum;
}

std::array<std::vector<double>, dual_parameters> perfusion_jacobian(const time_course& frames, discretisation_kind how,
                                                                    const perfusion_parameters& p) {
  std::array<std::vector<double>, dual_parameters> jacobian;
  for (std::size_t i = 0; i < dual_parameters; ++i) {
    // The curve is linear in the flows: any step is exact. For the others: the cube root of the rounding error.
    const bool flow = i == ka || i == kp;
    const double step = flow ? 0.01 : i == kl ? 1e-5 * std::fmax(std::fabs(p[kl]), 1e-3) : 1e-5;
    perfusion_parameters up = p, down = p;
    up[i] += step, down[i] -= step;
    const auto above = perfusion_curve(frames, how, up), below = perfusion_curve(frames, how, down);
    for (std::size_t f = 0; f < above.size(); ++f) jacobian[i].push_back((above[f] - below[f]) / (up[i] - down[i]));
  }
  return jacobian;
}

}  // namespace voxherd::reference
