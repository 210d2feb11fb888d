#include "kernels/noddi/protocol.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace voxherd::noddi {

namespace {

constexpr double max_tensor_b = 1.5;  // ms/um2: above, the tensor does not describe the signal
constexpr double max_b0 = 0.1;

/// Coefficients of P_l(x) by powers of y = 2 x^2 - 1, for l = 0, 2, ... 2 (count - 1): row after row of `count`.
std::vector<double> legendre_powers(int count) {
  const auto n = static_cast<std::size_t>(count);
  std::vector<double> p(n * n, 0.0);
  p[0] = 1;
  if (count > 1) p[n] = 0.25, p[n + 1] = 0.75;
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double l = 2.0 * static_cast<double>(i);
    // x^2 P_l = alpha P_(l+2) + beta P_l + gamma P_(l-2)
    const double alpha = (l + 1) * (l + 2) / ((2 * l + 1) * (2 * l + 3));
    const double beta = (2 * l * l + 2 * l - 1) / ((2 * l - 1) * (2 * l + 3));
    const double gamma = l * (l - 1) / ((2 * l + 1) * (2 * l - 1));
    for (std::size_t j = 0; j < n; ++j) {
      const double times_x2 = (p[i * n + j] + (j > 0 ? p[i * n + j - 1] : 0)) / 2;
      p[(i + 1) * n + j] = (times_x2 - beta * p[i * n + j] - gamma * p[(i - 1) * n + j]) / alpha;
    }
  }
  return p;
}

/// (2l+1) c_l(a) for l = 0, 2, ...: at t = 0 their sum with P_l(0) is 1.
std::vector<double> stick_moments(double a, int count) {
  constexpr int orders = first_order / 2 - 1;
  double ratio[orders];
  legendre_moments<orders>(a, ratio);
  double sum = 0, at_zero = 1;  // P_l(0)
  for (int i = 0; i < orders; ++i) {
    sum += (4 * i + 1) * ratio[i] * at_zero;
    at_zero *= -(2 * i + 1.0) / (2 * i + 2.0);
  }
  std::vector<double> moments(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) moments[static_cast<std::size_t>(i)] = (4 * i + 1) * ratio[i] / sum;
  return moments;
}

}  // namespace

protocol::protocol(const gradient_table& gradients, const settings& s, int tables) : d_par(s.d_par_mm2_per_s * 1e3) {
  order.resize(gradients.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto i, auto j) { return gradients.b_s_per_mm2[i] < gradients.b_s_per_mm2[j]; });
  for (const std::uint32_t k : order) {
    const double length = std::hypot(gradients.x[k], gradients.y[k], gradients.z[k]);
    const double scale = length > 0 ? 1 / length : 0;
    x.push_back(gradients.x[k] * scale);
    y.push_back(gradients.y[k] * scale);
    z.push_back(gradients.z[k] * scale);
    b.push_back(gradients.b_s_per_mm2[k] * ms_per_um2);
    isotropic.push_back(std::exp(-b.back() * s.d_iso_mm2_per_s * 1e3));
  }
  find_shells(tables);
  terms = b.empty() || b.back() * d_par <= max_b_times_d_of_few_terms ? few_terms : many_terms;
  fill_sticks();
  const auto row = static_cast<std::size_t>(shells() * terms);
  grid_coefficient.resize(grid_odis * row);
  grid_mean_square.resize(grid_odis);
  std::vector<double> slopes(row);
  for (std::size_t i = 0; i < grid_odis; ++i) {
    double slope = 0;
    coefficients(grid_odi(static_cast<int>(i)), grid_coefficient.data() + i * row, slopes.data(), grid_mean_square[i],
                 slope);
  }
}

/// Each distinct b-value is a shell; of more than `tables`, the nearest are joined.
void protocol::find_shells(int tables) {
  struct group {
    double sum;
    int count;
    double mean() const { return sum / count; }
  };
  std::vector<group> groups;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (groups.empty() || b[i] - b[i - 1] > 1e-9) groups.push_back({0, 0});
    groups.back().sum += b[i];
    ++groups.back().count;
  }
  while (groups.size() > static_cast<std::size_t>(tables)) {
    std::size_t nearest = 0;
    for (std::size_t i = 1; i + 1 < groups.size(); ++i)
      if (groups[i + 1].mean() - groups[i].mean() < groups[nearest + 1].mean() - groups[nearest].mean()) nearest = i;
    groups[nearest].sum += groups[nearest + 1].sum;
    groups[nearest].count += groups[nearest + 1].count;
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(nearest) + 1);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    shell_b.push_back(groups[g].mean());
    for (int i = 0; i < groups[g].count; ++i) shell.push_back(static_cast<std::int32_t>(g));
  }
  // The tensor uses low b-values if these suffice: two of them, at least six directions.
  int weighted = 0;
  bool has_b0 = false;
  for (const double value : b) {
    weighted += value > max_b0 && value <= max_tensor_b;
    has_b0 = has_b0 || value <= max_b0;
  }
  const bool enough = has_b0 && weighted >= 6;
  for (const double value : b) low_b.push_back(!enough || value <= max_tensor_b ? 1 : 0);
}

void protocol::fill_sticks() {
  const auto n = static_cast<std::size_t>(terms);
  const std::vector<double> powers = legendre_powers(terms);
  for (const double value : shell_b) {
    const std::vector<double> moments = stick_moments(value * d_par, terms);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) stick.push_back(powers[i * n + j] * moments[i]);
  }
}

void protocol::coefficients(double odi, double* coefficient, double* slope_by_kappa, double& mean_square,
                            double& mean_square_slope) const {
  double w[many_terms + 1], dw[many_terms];
  legendre_moments<many_terms + 1>(-kappa_of(odi), w);
  for (int i = 0; i < many_terms; ++i) dw[i] = moment_slope(w, i);
  mean_square = (1 + 2 * w[1]) / 3;
  mean_square_slope = 2 * dw[1] / 3;
  const double* t = stick.data();
  for (int e = 0; e < shells() * terms; ++e) {
    coefficient[e] = slope_by_kappa[e] = 0;
    for (int i = 0; i < terms; ++i, ++t) {
      coefficient[e] += *t * w[i];
      slope_by_kappa[e] += *t * dw[i];
    }
  }
}

std::vector<float> protocol::chain_table() const {
  const auto row = static_cast<std::size_t>(row_numbers());
  std::vector<float> table;
  std::vector<double> value(row), slope(row);
  const double interval = (1 - min_odi) / table_intervals;
  for (int node = 0; node <= table_intervals; ++node) {
    const double odi = min_odi + node * interval;
    coefficients(odi, value.data(), slope.data(), value[row - 1], slope[row - 1]);
    const double factor = kappa_slope(kappa_of(odi)) * interval;
    for (const double v : value) table.push_back(static_cast<float>(v));
    for (const double v : slope) table.push_back(static_cast<float>(v * factor));
  }
  return table;
}

std::vector<double> predict_signals(const protocol& p, const signal_parameters& v) {
  const auto row = static_cast<std::size_t>(p.shells() * p.terms);
  std::vector<double> coefficient(row), slope(row), signals(p.measurements());
  double mean_square = 0, mean_square_slope = 0;
  p.coefficients(v.odi, coefficient.data(), slope.data(), mean_square, mean_square_slope);
  for (std::size_t i = 0; i < p.measurements(); ++i) {
    const double cosine = p.x[i] * v.axis[0] + p.y[i] * v.axis[1] + p.z[i] * v.axis[2], u = cosine * cosine;
    const auto first = static_cast<std::size_t>(p.shell[i] * p.terms);
    double intra = 0;
    for (auto j = static_cast<std::size_t>(p.terms); j-- > 0;) intra = intra * (2 * u - 1) + coefficient[first + j];
    const double along = (1 - mean_square) / 2 + u * (3 * mean_square - 1) / 2;
    const double extra = std::exp(-p.b[i] * p.d_par * (1 - v.ndi * (1 - along)));
    const double tissue = v.ndi * intra + (1 - v.ndi) * extra;
    const double moving = (1 - v.fwf) * tissue + v.fwf * p.isotropic[i];
    signals[p.order[i]] = v.s0 * ((1 - v.dot) * moving + v.dot);
  }
  return signals;
}

double largest_b_difference(const protocol& p, const gradient_table& gradients) {
  double largest = 0;
  for (std::size_t i = 0; i < p.measurements(); ++i)
    largest = std::max(largest, std::abs(gradients.b_s_per_mm2[p.order[i]] -
                                         p.shell_b[static_cast<std::size_t>(p.shell[i])] / ms_per_um2));
  return largest;
}

}  // namespace voxherd::noddi
