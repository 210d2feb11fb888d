#include "tests/noddi/reference/noddi_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <numeric>
#include <random>
#include <sstream>

#include "kernels/voxel_model/deviated_gradients.hpp"

namespace voxherd::reference {

namespace {

constexpr int quadrature_points = 400;

/// Sum over the midpoints t of a fine grid of (0, 1) of weight(t) = exp(kappa (t^2 - 1)) and of weight times f(t).
template <class F>
double watson_mean(double kappa, F f) {
  double weights = 0, sum = 0;
  constexpr int points = 20000;
  for (int i = 0; i < points; ++i) {
    const double t = (i + 0.5) / points, w = std::exp(kappa * (t * t - 1));
    weights += w;
    sum += w * f(t);
  }
  return sum / weights;
}

}  // namespace

double watson_stick(double b_times_d, double kappa, double cosine) {
  const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
  constexpr int turns = 64;
  return watson_mean(kappa, [&](double t) {
    const double across = std::sqrt(1 - t * t) * sine;
    double sum = 0;
    for (int i = 0; i < turns; ++i) {
      const double product = t * cosine + across * std::cos(2 * std::numbers::pi * (i + 0.5) / turns);
      sum += std::exp(-b_times_d * product * product) / turns;
    }
    return sum;
  });
}

double watson_mean_square(double kappa) {
  return watson_mean(kappa, [](double t) { return t * t; });
}

double noddi_signal(const noddi_parameters& p, double b_s_per_mm2, double x, double y, double z) {
  const double b = b_s_per_mm2 * 1e-3;
  const double cosine = x * p.axis[0] + y * p.axis[1] + z * p.axis[2];
  const double intra = watson_stick(b * p.d_par, p.kappa, cosine);
  const double tau = watson_mean_square(p.kappa), d_perp = p.d_par * (1 - p.ndi);
  const double along = (1 - tau) / 2 + cosine * cosine * (3 * tau - 1) / 2;
  const double extra = std::exp(-b * (d_perp + (p.d_par - d_perp) * along));
  const double tissue = p.ndi * intra + (1 - p.ndi) * extra;
  return p.s0 * ((1 - p.dot) * ((1 - p.fwf) * tissue + p.fwf * std::exp(-b * p.d_iso)) + p.dot);
}

namespace {

/// Runs an estimator for voxels 0, 1, ... if `voxels` is empty.
template <class Outputs>
std::vector<std::vector<float>> run_estimator(voxel_model::estimator<Outputs>& e, const typename Outputs::inputs& s,
                                              std::size_t row_floats, const std::vector<float>& rows,
                                              std::vector<std::uint64_t> voxels) {
  const std::size_t count = rows.size() / row_floats;
  if (voxels.empty()) {
    voxels.resize(count);
    std::iota(voxels.begin(), voxels.end(), 0u);
  }
  const auto widths = output_widths<Outputs>(s);
  const auto chosen = chosen_outputs<Outputs>(s);
  output_arrays<Outputs> arrays;
  std::vector<std::vector<float>> columns(arrays.count);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!chosen[i]) continue;
    columns[i].resize(count * (widths[i] + 3) / 4 + 1);
    arrays.array[i] = columns[i].data();
  }
  e.run(count, voxels.data(), rows.data(), arrays);
  return columns;
}

std::array<double, 3> cross(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

bingham_run::bingham_run(const device& d, const gradient_table& gradients, noddi::settings s,
                         const std::vector<float>& rows, bool deviates)
    : noddi_run(d, gradients, (s.distribution = noddi::distribution::bingham, s), rows, {}, deviates) {}

std::vector<bingham_parameters> draw_bingham_parameters(int count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<bingham_parameters> all;
  for (const noddi_parameters& one : draw_parameters(count, seed + 1)) {
    bingham_parameters p{one};
    p.beta = uniform(engine) * p.kappa;
    const std::array<double, 3> other{0.6, -0.48, 0.64}, side = cross(p.axis, other), up = cross(p.axis, side);
    const double length = std::hypot(side[0], side[1], side[2]), turn = 2 * std::numbers::pi * uniform(engine);
    for (std::size_t i = 0; i < 3; ++i) p.fan[i] = (side[i] * std::cos(turn) + up[i] * std::sin(turn)) / length;
    all.push_back(p);
  }
  return all;
}

std::vector<float> draw_bingham_signals(const bingham_parameters& p, const gradient_table& gradients, double sigma,
                                        unsigned seed) {
  constexpr int heights = 200, turns = 64;
  const std::array<double, 3> third = cross(p.axis, p.fan);
  std::vector<std::array<double, 4>> directions;  // and their weights
  double weights = 0, squares[3] = {};
  for (int i = 0; i < heights; ++i)
    for (int j = 0; j < turns; ++j) {
      const double z = (i + 0.5) / heights, across = std::sqrt(1 - z * z),
                   turn = 2 * std::numbers::pi * (j + 0.5) / turns;
      const double x = across * std::cos(turn), y = across * std::sin(turn);
      const double w = std::exp(p.kappa * (z * z - 1) + p.beta * x * x);
      weights += w;
      squares[0] += w * x * x, squares[1] += w * y * y, squares[2] += w * z * z;
      std::array<double, 4> n{0, 0, 0, w};
      for (std::size_t c = 0; c < 3; ++c) n[c] = x * p.fan[c] + y * third[c] + z * p.axis[c];
      directions.push_back(n);
    }
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> noise(0, 1);
  std::vector<float> row;
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const std::array<double, 3> g{gradients.x[k], gradients.y[k], gradients.z[k]};
    const double b = gradients.b_s_per_mm2[k] * 1e-3;
    const auto product = [&](const auto& n) { return g[0] * n[0] + g[1] * n[1] + g[2] * n[2]; };
    double intra = 0, along = 0;
    for (const auto& n : directions) intra += n[3] * std::exp(-b * p.d_par * product(n) * product(n)) / weights;
    for (std::size_t c = 0; const auto& axis : {p.fan, third, p.axis})
      along += squares[c++] / weights * product(axis) * product(axis);
    const double extra = std::exp(-b * p.d_par * (1 - p.ndi * (1 - along)));
    const double tissue = p.ndi * intra + (1 - p.ndi) * extra;
    const double moving = (1 - p.fwf) * tissue + p.fwf * std::exp(-b * p.d_iso);
    const double signal = p.s0 * ((1 - p.dot) * moving + p.dot);
    row.push_back(static_cast<float>(std::hypot(signal + sigma * noise(engine), sigma * noise(engine))));
  }
  return row;
}

noddi_run::noddi_run(const device& d, const gradient_table& gradients, const noddi::settings& s,
                     const std::vector<float>& rows, std::vector<std::uint64_t> voxels, bool deviates) {
  noddi::with_model(s, [&](const auto& model) {
    using outputs = voxel_model::outputs_of<std::decay_t<decltype(model)>>;
    for (const auto& output : outputs::table) names_.emplace_back(output.name);
    columns_ = run_estimator(*voxel_model::make_estimator(d, model, gradients, deviates, s), s,
                             gradients.size() + (deviates ? 9 : 0), rows, std::move(voxels));
  });
}

const std::vector<float>& noddi_run::operator[](const std::string& output) const {
  const auto found = std::find(names_.begin(), names_.end(), output);
  if (found == names_.end()) throw std::invalid_argument(output);
  return columns_[static_cast<std::size_t>(found - names_.begin())];
}

gradient_table noddi_gradients(int directions, const std::vector<double>& shells_s_per_mm2) {
  gradient_table table;
  const auto add = [&](double x, double y, double z, double b) {
    table.x.push_back(x), table.y.push_back(y), table.z.push_back(z), table.b_s_per_mm2.push_back(b);
  };
  for (int i = 0; i < 6; ++i) add(0, 0, 0, 0);
  for (std::size_t shell = 0; shell < shells_s_per_mm2.size(); ++shell)
    for (int i = 0; i < directions; ++i) {
      const double z = (i + 0.5) / directions, r = std::sqrt(1 - z * z);
      const double turn = 2 * std::numbers::pi * std::numbers::phi * i + static_cast<double>(shell);
      add(r * std::cos(turn), r * std::sin(turn), z, shells_s_per_mm2[shell]);
    }
  return table;
}

std::vector<noddi_parameters> draw_parameters(int count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<noddi_parameters> all;
  for (int i = 0; i < count; ++i) {
    noddi_parameters p;
    p.s0 = 1000;
    p.fwf = uniform(engine);
    p.ndi = uniform(engine);
    const double odi = noddi::min_odi + (noddi::max_odi - noddi::min_odi) * uniform(engine);
    p.kappa = 1 / std::tan(std::numbers::pi / 2 * odi);
    const double z = 2 * uniform(engine) - 1, turn = 2 * std::numbers::pi * uniform(engine), r = std::sqrt(1 - z * z);
    p.axis = {r * std::cos(turn), r * std::sin(turn), z};
    all.push_back(p);
  }
  return all;
}

std::vector<float> draw_signals(const std::vector<noddi_parameters>& p, const gradient_table& gradients, double sigma,
                                unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> noise(0, 1);
  std::vector<float> rows;
  for (const noddi_parameters& one : p) {
    const double tau = watson_mean_square(one.kappa), d_perp = one.d_par * (1 - one.ndi);
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      const double b = gradients.b_s_per_mm2[k] * 1e-3;
      const double cosine = gradients.x[k] * one.axis[0] + gradients.y[k] * one.axis[1] + gradients.z[k] * one.axis[2];
      const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
      // A coarser quadrature than watson_stick(): error below 1e-5.
      double weights = 0, intra = 0;
      for (int i = 0; i < quadrature_points; ++i) {
        const double t = (i + 0.5) / quadrature_points, w = std::exp(one.kappa * (t * t - 1));
        weights += w;
        const double across = std::sqrt(1 - t * t) * sine;
        for (int j = 0; j < 16; ++j) {
          const double product = t * cosine + across * std::cos(2 * std::numbers::pi * (j + 0.5) / 16);
          intra += w * std::exp(-b * one.d_par * product * product) / 16;
        }
      }
      const double along = (1 - tau) / 2 + cosine * cosine * (3 * tau - 1) / 2;
      const double extra = std::exp(-b * (d_perp + (one.d_par - d_perp) * along));
      const double tissue = one.ndi * intra / weights + (1 - one.ndi) * extra;
      const double signal =
          one.s0 * ((1 - one.dot) * ((1 - one.fwf) * tissue + one.fwf * std::exp(-b * one.d_iso)) + one.dot);
      rows.push_back(static_cast<float>(std::hypot(signal + sigma * noise(engine), sigma * noise(engine))));
    }
  }
  return rows;
}

noddi_table::noddi_table(const std::string& name) {
  std::ifstream file(std::string(VOXHERD_DATA) + "/noddi_reference/" + name);
  const auto cells = [](const std::string& line) {
    std::vector<std::string> found;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) found.push_back(cell);
    return found;
  };
  std::string line;
  if (std::getline(file, line)) names_ = cells(line);
  while (std::getline(file, line)) rows_.push_back(cells(line));
}

const std::string& noddi_table::text(std::size_t row, const std::string& column) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == column) return rows_.at(row).at(i);
  throw std::invalid_argument(column);
}

void expect_agrees_with_cpu(const device& d, const noddi::settings& s, int directions, bool deviates) {
  constexpr float deviation[9] = {0.05f, 0.02f, -0.01f, 0.03f, -0.04f, 0.02f, 0.01f, -0.03f, 0.06f};
  const gradient_table gradients = noddi_gradients(directions, {1000, 2000, 3000});
  const gradient_table measured = deviates ? voxel_model::deviated(gradients, deviation) : gradients;
  std::vector<noddi_parameters> p = draw_parameters(40, 3);
  for (noddi_parameters& one : p) {
    one.fwf *= 0.5;
    one.ndi = 0.2 + 0.6 * one.ndi;
    if (s.dot) one.dot = 0.1;
  }
  const std::vector<float> signals = draw_signals(p, measured, 20, 5);
  std::vector<float> rows;
  for (auto row = signals.begin(); row != signals.end(); row += static_cast<std::ptrdiff_t>(gradients.size())) {
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(gradients.size()));
    if (deviates) rows.insert(rows.end(), std::begin(deviation), std::end(deviation));
  }
  const noddi_run here(d, gradients, s, rows, {}, deviates),
      there({backend::cpu, 1, 0}, gradients, s, rows, {}, deviates);
  int far = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (const std::string name : {"NDI", "ODI", "FWF"}) {
      EXPECT_GT(here[name][i], 0) << name;
      const double sd = s.samples > 0 ? static_cast<double>(there[name + "_SD"][i]) : 0.02;
      far += std::abs(static_cast<double>(here[name][i] - there[name][i])) > (s.samples > 0 ? 2 * sd + 0.01 : 1e-3);
    }
  // A chain that takes another way is as good, and so is an optimum on a plateau.
  EXPECT_LE(far, 3) << directions << " directions";
}

}  // namespace voxherd::reference
