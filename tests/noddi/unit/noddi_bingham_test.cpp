#include <gtest/gtest.h>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/portable/cpu_team.hpp"
#include "kernels/voxel_model/deviated_gradients.hpp"
#include "kernels/voxel_model/frame.hpp"
#include "tests/noddi/reference/noddi_reference.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

/// A measurement of the Bingham model: sticks, complete signal, mean square along the mean, slopes of the sticks.
struct bingham_signal {
  double intra, signal, square, by_kappa, by_beta;
};

template <class Number, bool Slopes>
bingham_signal model_signal(const bingham_parameters& p, double b, const std::array<double, 3>& direction) {
  using team = cpu_team<Number>;
  using real = typename team::real;
  const bingham_model model{noddi::settings{}};
  const double x[3] = {p.fan[0], p.fan[1], p.fan[2]}, z[3] = {p.axis[0], p.axis[1], p.axis[2]};
  const voxel_model::frame<double> axes = voxel_model::make_frame(x, z);
  const auto g = axes.components(voxel_model::gradient<double>{direction[0], direction[1], direction[2], b});
  const auto all = [](double value) { return real(static_cast<Number>(value)); };
  const voxel_model::gradient<real> lanes{all(g.x), all(g.y), all(g.z), all(b)};
  const Number numbers[4] = {Number(p.fwf), Number(p.ndi), Number(noddi::odi_of(p.kappa)),
                             Number(p.kappa > 0 ? p.beta / p.kappa : 0)};
  typename bingham_model::state<Number, Slopes> state;
  model.prepare(team{}, numbers, state);
  real by[4], by_component[3], stick[noddi::bingham::terms];
  const real signal = model.attenuation(lanes, numbers, state, by, by_component);
  noddi::bingham::stick_moments(lanes.b_s_per_mm2 * all(1.7e-3), stick);
  const auto sticks = noddi::bingham::sum_series(stick, state.moments, lanes.x, lanes.y, lanes.z);
  const auto first = [](const real& lane) { return static_cast<double>(lane[0]); };
  return {first(sticks.value), first(signal), static_cast<double>(state.square[2]), first(sticks.by_kappa),
          first(sticks.by_beta)};
}

/// The reference data: 50 distributions, kappa up to 64, 91 measurements up to b = 3000 s/mm2, accurate to 1e-15.
TEST(NoddiBingham, AgreesWithTheReferenceTables) {
  const noddi_table sets("tables/bingham_sets.tsv"), protocol("tables/protocol91.tsv"),
      signals("tables/bingham_signals.tsv");
  if (signals.size() == 0) GTEST_SKIP() << "no reference data";
  bingham_signal largest{}, largest_float{};
  for (std::size_t row = 0; row < signals.size(); ++row) {
    const auto set = static_cast<std::size_t>(signals.number(row, "set")),
               k = static_cast<std::size_t>(signals.number(row, "meas"));
    bingham_parameters p;
    p.fwf = sets.number(set, "fwf"), p.ndi = sets.number(set, "ndi");
    p.kappa = sets.number(set, "kappa"), p.beta = sets.number(set, "beta");
    p.axis = {sets.number(set, "mu_x"), sets.number(set, "mu_y"), sets.number(set, "mu_z")};
    p.fan = {sets.number(set, "fan_x"), sets.number(set, "fan_y"), sets.number(set, "fan_z")};
    const std::array<double, 3> g{protocol.number(k, "gx"), protocol.number(k, "gy"), protocol.number(k, "gz")};
    const auto compare = [&](const bingham_signal& found, bingham_signal& to) {
      const auto put = [&](double& worst, double value, const char* column) {
        worst = std::max(worst, std::abs(value - signals.number(row, column)));
      };
      put(to.intra, found.intra, "intra"), put(to.signal, found.signal, "signal");
      put(to.square, found.square, "tau_kappa_axis");
      put(to.by_kappa, found.by_kappa, "dintra_dkappa"), put(to.by_beta, found.by_beta, "dintra_dbeta");
    };
    const double b = protocol.number(k, "b");
    compare(model_signal<double, true>(p, b, g), largest);
    compare(model_signal<float, false>(p, b, g), largest_float);
  }
  EXPECT_LT(largest.intra, 1e-8);
  EXPECT_LT(largest.signal, 1e-8);
  EXPECT_LT(largest.square, 1e-10);
  EXPECT_LT(largest.by_kappa, 1e-8);
  EXPECT_LT(largest.by_beta, 1e-8);
  EXPECT_LT(largest_float.intra, 1e-5);
  EXPECT_LT(largest_float.signal, 1e-5);
  EXPECT_GT(largest_float.signal, 0);
}

TEST(NoddiBingham, IsWatsonWithoutAFan) {
  for (const double kappa : {0.02, 1.0, 10.0, 30.0})
    for (const double cosine : {0.0, 0.5, 1.0}) {
      bingham_parameters p;
      p.kappa = kappa, p.ndi = 0.6, p.fwf = 0.1;
      const std::array<double, 3> g{0, std::sqrt(1 - cosine * cosine), cosine};
      const bingham_signal found = model_signal<double, true>(p, 3000, g);
      EXPECT_NEAR(found.intra, watson_stick(5.1, kappa, cosine), 1e-7) << kappa;
      EXPECT_NEAR(found.signal, noddi_signal(p, 3000, g[0], g[1], g[2]), 1e-7) << kappa;
    }
}

/// At the largest b d_par that the command accepts, against Watson's series with more terms.
TEST(NoddiBingham, ConvergesUpToTheLargestB) {
  double largest = 0;
  for (const double kappa : {1.0, 8.0, 32.0, 64.0})
    for (int i = 0; i <= 20; ++i) {
      bingham_parameters p;
      p.kappa = kappa;
      const double cosine = i / 20.0, b_times_d = noddi::bingham::max_b_times_d;
      double w[noddi::many_terms], c[noddi::many_terms], value = 0;
      noddi::legendre_moments<noddi::many_terms>(-kappa, w);
      noddi::legendre_moments<noddi::many_terms>(b_times_d, c);
      for (int l = 0; l < noddi::many_terms; ++l) value += (4 * l + 1) * c[l] * w[l] * std::legendre(2 * l, cosine);
      value *= std::sqrt(std::numbers::pi / b_times_d) / 2 * std::erf(std::sqrt(b_times_d));
      const std::array<double, 3> g{0, std::sqrt(1 - cosine * cosine), cosine};
      largest = std::max(largest, std::abs(model_signal<double, true>(p, b_times_d / 1.7e-3, g).intra - value));
    }
  EXPECT_LT(largest, 1e-5);
}

double at(const bingham_run& run, const std::string& name, std::size_t i) { return static_cast<double>(run[name][i]); }

/// Degrees between two axes.
double angle(const bingham_run& run, const std::string& name, std::size_t i, const std::array<double, 3>& axis) {
  double cosine = 0;
  for (std::size_t k = 0; k < 3; ++k) cosine += at(run, name, 3 * i + k) * axis[k];
  return std::acos(std::min(1.0, std::abs(cosine))) * 180 / std::numbers::pi;
}

double index_of(double concentration) { return 2 / std::numbers::pi * std::atan2(1.0, concentration); }

bingham_parameters some_fan(double kappa, double beta) {
  return {{800, 0.12, 0.6, kappa, 0, {0.6, 0, 0.8}}, beta, {0, 1, 0}};
}

TEST(NoddiBingham, RecoversTheParametersOfExactSignals) {
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  for (const auto& [kappa, beta] : {std::pair{6.0, 3.0}, {12.0, 9.0}, {3.0, 0.6}, {20.0, 4.0}}) {
    const bingham_parameters truth = some_fan(kappa, beta);
    const bingham_run run(one_thread, g, {}, draw_bingham_signals(truth, g, 0, 1));
    EXPECT_EQ(run["status"][0], 0.0f);
    EXPECT_NEAR(at(run, "NDI", 0), truth.ndi, 1e-3);
    EXPECT_NEAR(at(run, "FWF", 0), truth.fwf, 1e-3);
    EXPECT_NEAR(at(run, "tf", 0), 1 - truth.fwf, 1e-3);
    EXPECT_NEAR(at(run, "kappa", 0), kappa, 0.02 * kappa);
    EXPECT_NEAR(at(run, "beta", 0), beta, 0.02 * kappa);
    EXPECT_NEAR(at(run, "ODIs", 0), index_of(kappa), 1e-3);
    EXPECT_NEAR(at(run, "ODIp", 0), index_of(kappa - beta), 1e-3);
    EXPECT_NEAR(at(run, "ODI", 0), index_of(std::sqrt(kappa * (kappa - beta))), 1e-3);
    EXPECT_NEAR(at(run, "DA", 0), 2 / std::numbers::pi * std::atan2(beta, kappa - beta), 5e-3);
    EXPECT_NEAR(at(run, "S0", 0), truth.s0, 0.1);
    EXPECT_LT(angle(run, "direction", 0, truth.axis), 0.1);
    EXPECT_LT(angle(run, "fanning_direction", 0, truth.fan), 0.5);
    EXPECT_LT(at(run, "residual", 0), 0.1);
  }
}

TEST(NoddiBingham, FindsADotThatDiffusionDoesNotAttenuate) {
  const gradient_table g = noddi_gradients(40, {1000, 3000, 5000});
  bingham_parameters truth = some_fan(6, 3);
  truth.dot = 0.15;
  noddi::settings s;
  s.dot = true;
  const std::vector<float> row = draw_bingham_signals(truth, g, 0, 1);
  const bingham_run run(one_thread, g, s, row);
  EXPECT_NEAR(at(run, "dot", 0), truth.dot, 2e-3);
  EXPECT_NEAR(at(run, "NDI", 0), truth.ndi, 2e-3);
  EXPECT_NEAR(at(run, "FWF", 0), truth.fwf, 2e-3);
  EXPECT_NEAR(at(run, "beta", 0), truth.beta, 0.02 * truth.kappa);
  EXPECT_NEAR(at(run, "S0", 0), truth.s0, 0.5);
  EXPECT_GT(std::abs(at(bingham_run(one_thread, g, {}, row), "NDI", 0) - truth.ndi), 0.02);
  s.samples = 200;
  const bingham_run sampled(one_thread, g, s, draw_bingham_signals(truth, g, 10, 2));
  EXPECT_NEAR(at(sampled, "dot", 0), truth.dot, 4 * at(sampled, "dot_SD", 0));
  EXPECT_GT(at(sampled, "dot_SD", 0), 0);
}

/// Fans in white matter at SNR 30. Limits: 0.01 is that of the bias of NODDI's maps; the spread of NDI, FWF and the
/// axis is Watson's there (0.033, 0.039, 1.3 degrees), with a margin for two more parameters.
TEST(NoddiBingham, RecoversFansFromNoise) {
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  constexpr std::size_t voxels = 200;
  std::vector<bingham_parameters> truth = draw_bingham_parameters(voxels, 5);
  std::vector<float> rows;
  for (std::size_t i = 0; i < voxels; ++i) {
    bingham_parameters& p = truth[i];
    p.ndi = 0.4 + 0.4 * p.ndi, p.fwf *= 0.1;
    const double fraction = 0.3 + 0.5 * p.beta / p.kappa;
    p.kappa = 4 + 12 * static_cast<double>(i) / voxels, p.beta = fraction * p.kappa;
    const std::vector<float> row = draw_bingham_signals(p, g, 1000.0 / 30, static_cast<unsigned>(i));
    rows.insert(rows.end(), row.begin(), row.end());
  }
  noddi::settings s;
  s.noise = noddi::noise_model::rician;
  const bingham_run run(two_threads, g, s, rows);
  const auto compare = [&](const char* name, auto value, double max_bias, double max_rms) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < voxels; ++i) {
      const double error = at(run, name, i) - value(truth[i]);
      sum += error, squares += error * error;
    }
    RecordProperty(name, fmt::format("bias {:.4f}, rms {:.4f}", sum / voxels, std::sqrt(squares / voxels)));
    EXPECT_LT(std::abs(sum / voxels), max_bias) << name;
    EXPECT_LT(std::sqrt(squares / voxels), max_rms) << name;
  };
  compare(
      "NDI", [](const auto& p) { return p.ndi; }, 0.01, 0.05);
  compare(
      "FWF", [](const auto& p) { return p.fwf; }, 0.01, 0.05);
  compare(
      "ODI", [](const auto& p) { return index_of(std::sqrt(p.kappa * (p.kappa - p.beta))); }, 0.01, 0.04);
  compare(
      "ODIs", [](const auto& p) { return index_of(p.kappa); }, 0.02, 0.06);
  compare(
      "ODIp", [](const auto& p) { return index_of(p.kappa - p.beta); }, 0.02, 0.08);
  std::vector<double> axis, fan;
  for (std::size_t i = 0; i < voxels; ++i) {
    axis.push_back(angle(run, "direction", i, truth[i].axis));
    fan.push_back(angle(run, "fanning_direction", i, truth[i].fan));
  }
  for (auto* angles : {&axis, &fan}) std::nth_element(angles->begin(), angles->begin() + voxels / 2, angles->end());
  RecordProperty("angles", fmt::format("axis {:.2f}, fan {:.2f}", axis[voxels / 2], fan[voxels / 2]));
  EXPECT_LT(axis[voxels / 2], 3);
  EXPECT_LT(fan[voxels / 2], 15);
}

/// Watson's model is a part of Bingham's, so that its best fit cannot be better.
TEST(NoddiBingham, FitsNoWorseThanWatson) {
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  constexpr std::size_t voxels = 400;
  const std::vector<float> rows = draw_signals(draw_parameters(voxels, 3), g, 1000.0 / 30, 4);
  const bingham_run run(two_threads, g, {}, rows);
  const noddi_run watson(two_threads, g, {}, rows);
  std::size_t worse = 0;
  for (std::size_t i = 0; i < voxels; ++i) worse += run["residual"][i] > watson["residual"][i] * (1 + 1e-4f);
  RecordProperty("worse", std::to_string(worse));
  EXPECT_LE(worse, voxels / 100);
}

TEST(NoddiBingham, CorrectsForTheDeviationOfGradients) {
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  const std::vector<float> deviation{0.05f, 0.02f, -0.01f, 0.03f, -0.04f, 0.02f, 0.01f, -0.03f, 0.06f};
  const bingham_parameters truth = some_fan(8, 4);
  std::vector<float> row = draw_bingham_signals(truth, voxel_model::deviated(g, deviation.data()), 0, 1);
  row.insert(row.end(), deviation.begin(), deviation.end());
  const bingham_run run(one_thread, g, {}, row, true);
  EXPECT_NEAR(at(run, "NDI", 0), truth.ndi, 1e-3);
  EXPECT_NEAR(at(run, "kappa", 0), 8, 0.16);
}

TEST(NoddiBingham, AnyNumberOfThreadsGivesTheSameBytes) {
  const gradient_table g = noddi_gradients(20, {1000, 2000});
  const std::vector<float> rows = draw_signals(draw_parameters(10, 1), g, 30, 2);
  noddi::settings s;
  s.samples = 5;
  s.burn_in_jumps = 50;
  s.sample_every = 5;
  EXPECT_EQ(bingham_run(one_thread, g, s, rows).all(), bingham_run(two_threads, g, s, rows).all());
}

TEST(NoddiBingham, MeansOfTheChainAreThoseOfTheSamples) {
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  noddi::settings s;
  s.samples = 50;
  s.noise = noddi::noise_model::rician;
  const bingham_parameters truth = some_fan(8, 5);
  const bingham_run run(one_thread, g, s, draw_bingham_signals(truth, g, 20, 2));
  for (const std::string name : {"NDI", "FWF", "kappa", "beta", "ODI", "ODIs", "ODIp", "DA"}) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < 50; ++i) mean += at(run, name + "_samples", i) / 50;
    for (std::size_t i = 0; i < 50; ++i) squares += std::pow(at(run, name + "_samples", i) - mean, 2);
    EXPECT_NEAR(at(run, name, 0), mean, 1e-5 * mean) << name;
    EXPECT_NEAR(at(run, name + "_SD", 0), std::sqrt(squares / 49), 1e-4 * mean) << name;
    EXPECT_GT(at(run, name + "_SD", 0), 0) << name;
  }
  for (std::size_t i = 0; i < 50; ++i)
    EXPECT_NEAR(at(run, "ODIs_samples", i), index_of(at(run, "kappa_samples", i)), 1e-5);
  EXPECT_LT(angle(run, "direction", 0, truth.axis), 6);
  EXPECT_LT(angle(run, "fanning_direction", 0, truth.fan), 20);
  EXPECT_GT(at(run, "fanning_direction_dispersion", 0), at(run, "direction_dispersion", 0));
  EXPECT_NEAR(at(run, "sigma", 0), 20, 5 * at(run, "sigma_SD", 0));
}

/// The exponent of the distribution as a matrix: kappa along the mean, beta along the fan.
std::array<double, 9> exponent(const double (&p)[4], const voxel_model::frame<double>& f) {
  const double kappa = noddi::kappa_of(p[bingham_model::odis]), beta = p[bingham_model::beta_fraction] * kappa;
  std::array<double, 9> m{};
  for (std::size_t i = 0; i < 9; ++i)
    m[i] = kappa * f.axis[2][i / 3] * f.axis[2][i % 3] + beta * f.axis[0][i / 3] * f.axis[0][i % 3];
  return m;
}

/// A distribution whose beta is not between 0 and kappa has another axis as mean or fan; a multiple of the unit matrix
/// changes nothing.
TEST(NoddiBingham, AxesAreNamedByTheirConcentrations) {
  const voxel_model::frame<double> axes = voxel_model::make_frame({0.5, -0.3, 0.6}, {0.2, 0.9, -0.4});
  for (const double beta_fraction : {-2.5, -0.3, 0.0, 0.7, 1.0, 1.4, 6.0}) {
    double p[4] = {0.1, 0.5, noddi::odi_of(3), beta_fraction};
    voxel_model::frame<double> f = axes;
    const std::array<double, 9> before = exponent(p, f);
    bingham_model::relabel(p, f);
    const std::array<double, 9> after = exponent(p, f);
    EXPECT_GE(p[bingham_model::beta_fraction], 0);
    EXPECT_LE(p[bingham_model::beta_fraction], 1);
    EXPECT_EQ(f.axis[2][0] == axes.axis[2][0], beta_fraction <= 1);
    const double shift = after[0] - before[0];
    for (std::size_t i = 0; i < 9; ++i)
      EXPECT_NEAR(after[i] - before[i], i % 4 == 0 ? shift : 0, 1e-12) << beta_fraction;
    double turn = 0;  // the determinant
    for (std::size_t i = 0; i < 3; ++i)
      turn += f.axis[0][i] *
              (f.axis[1][(i + 1) % 3] * f.axis[2][(i + 2) % 3] - f.axis[1][(i + 2) % 3] * f.axis[2][(i + 1) % 3]);
    EXPECT_NEAR(turn, 1, 1e-12);
  }
}

/// The density of ODIs and beta_fraction is that of kappa and beta, which is uniform, times the determinant of their
/// derivatives.
TEST(NoddiBingham, ThePriorOfCuDimotIsUniformInKappaAndBeta) {
  noddi::settings s;
  s.prior = noddi::dispersion_prior::kappa;
  const bingham_model model(s);
  const auto density = [](double odis) {
    constexpr double step = 1e-6;
    const double slope = (noddi::kappa_of(odis + step) - noddi::kappa_of(odis - step)) / (2 * step);
    return std::abs(slope) * noddi::kappa_of(odis);
  };
  const float origin[4] = {0.1f, 0.5f, 0.3f, 0.2f};
  for (const double odis : {0.02, 0.1, 0.6, 0.95}) {
    const float p[4] = {0.4f, 0.3f, static_cast<float>(odis), 0.9f};
    EXPECT_NEAR(model.prior_energy(origin) - model.prior_energy(p), std::log2(density(odis) / density(0.3)), 2e-5);
  }
  EXPECT_EQ(bingham_model(noddi::settings{}).prior_energy(origin), 0);
}

}  // namespace
