#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kernels/voxel_model/deviated_gradients.hpp"
#include "tests/noddi/reference/noddi_reference.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::reference;

double at(const noddi_run& run, const std::string& name, std::size_t i) { return static_cast<double>(run[name][i]); }

std::vector<float> exact_signals(const std::vector<noddi_parameters>& p, const gradient_table& g) {
  std::vector<float> rows;
  for (const noddi_parameters& one : p)
    for (std::size_t k = 0; k < g.size(); ++k)
      rows.push_back(static_cast<float>(noddi_signal(one, g.b_s_per_mm2[k], g.x[k], g.y[k], g.z[k])));
  return rows;
}

void expect_recovers(const noddi::settings& s, noddi_parameters truth, const gradient_table& g, double tolerance) {
  const noddi_run run(one_thread, g, s, exact_signals({truth}, g));
  EXPECT_NEAR(at(run, "NDI", 0), truth.ndi, tolerance);
  EXPECT_NEAR(at(run, "FWF", 0), truth.fwf, tolerance);
  EXPECT_NEAR(at(run, "tf", 0), 1 - truth.fwf, tolerance);
  EXPECT_NEAR(at(run, "ODI", 0), 2 / std::numbers::pi * std::atan(1 / truth.kappa), tolerance);
  EXPECT_NEAR(at(run, "kappa", 0), truth.kappa, 20 * tolerance * truth.kappa);
  EXPECT_NEAR(at(run, "S0", 0), truth.s0, tolerance * truth.s0);
  double cosine = 0;
  for (std::size_t i = 0; i < 3; ++i) cosine += at(run, "direction", i) * truth.axis[i];
  EXPECT_GT(std::abs(cosine), 1 - tolerance);
  EXPECT_EQ(run["status"][0], 0.0f);
  if (s.dot) {
    EXPECT_NEAR(at(run, "dot", 0), truth.dot, tolerance);
  }
}

const noddi_parameters some_voxel{800, 0.12, 0.6, 6, 0, {0.6, 0, 0.8}};

TEST(NoddiFit, RecoversTheParametersOfExactSignals) {
  expect_recovers({}, some_voxel, noddi_gradients(30, {1000, 2000, 3000}), 1e-4);
  expect_recovers({}, some_voxel, noddi_gradients(32, {700, 2000}), 1e-4);
}

TEST(NoddiFit, CorrectsForTheDeviationOfGradients) {
  const gradient_table g = noddi_gradients(15, {1000, 2000, 3000});
  const std::vector<std::vector<float>> deviations{{0.05f, 0.02f, -0.01f, 0.03f, -0.04f, 0.02f, 0.01f, -0.03f, 0.06f},
                                                   {-0.06f, 0, 0.04f, -0.02f, 0.03f, 0.01f, 0.02f, 0.05f, -0.02f}};
  std::vector<float> rows, nominal_rows;
  for (const auto& deviation : deviations) {
    const std::vector<float> signals = exact_signals({some_voxel}, voxel_model::deviated(g, deviation.data()));
    rows.insert(rows.end(), signals.begin(), signals.end());
    rows.insert(rows.end(), deviation.begin(), deviation.end());
    nominal_rows.insert(nominal_rows.end(), signals.begin(), signals.end());
  }
  const noddi_run run(one_thread, g, {}, rows, {}, true), nominal(one_thread, g, {}, nominal_rows);
  noddi::settings s;
  s.samples = 100;
  const noddi_run sampled(one_thread, g, s, rows, {}, true);
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    EXPECT_NEAR(at(run, "NDI", i), some_voxel.ndi, 1e-4);
    EXPECT_NEAR(at(run, "FWF", i), some_voxel.fwf, 1e-4);
    EXPECT_NEAR(at(run, "kappa", i), some_voxel.kappa, 1e-2);
    EXPECT_GT(std::abs(at(nominal, "NDI", i) - some_voxel.ndi), 1e-3);
    EXPECT_NEAR(at(sampled, "NDI", i), some_voxel.ndi, 1e-2);
  }
}

/// Without a deviation in effect: the series for any b-value has the optima and the posterior of the tables by b-value.
TEST(NoddiFit, AgreesWithTheTablesWhereADeviationIsZero) {
  constexpr std::size_t voxels = 40;
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  const std::vector<float> signals = draw_signals(std::vector<noddi_parameters>(voxels, some_voxel), g, 25, 3);
  std::vector<float> rows;
  for (std::size_t i = 0; i < voxels; ++i) {
    const auto row = signals.begin() + static_cast<std::ptrdiff_t>(i * g.size());
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(g.size()));
    rows.insert(rows.end(), 9, 0.0f);
  }
  for (const bool dot : {false, true}) {
    noddi::settings s;
    s.noise = noddi::noise_model::rician;
    s.dot = dot;
    const noddi_run tables(one_thread, g, s, signals), series(one_thread, g, s, rows, {}, true);
    int same = 0;
    for (std::size_t i = 0; i < voxels; ++i) same += std::abs(at(tables, "NDI", i) - at(series, "NDI", i)) < 1e-4;
    EXPECT_GE(same, 39) << dot;
    s.samples = 200;
    const noddi_run by_tables(one_thread, g, s, signals), by_series(one_thread, g, s, rows, {}, true);
    for (const std::string name : {"NDI", "ODI", "FWF", "S0"}) {
      double difference = 0, ratio = 0;
      for (std::size_t i = 0; i < voxels; ++i) {
        const double sd = at(by_tables, name + "_SD", i);
        difference += (at(by_series, name, i) - at(by_tables, name, i)) / sd / voxels;
        ratio += at(by_series, name + "_SD", i) / sd / voxels;
      }
      EXPECT_NEAR(difference, 0, 0.15) << name;
      EXPECT_NEAR(ratio, 1, 0.15) << name;
    }
  }
}

TEST(NoddiFit, UsesManyTermsForHighBValues) {
  expect_recovers({}, some_voxel, noddi_gradients(30, {1000, 3000, 10000}), 1e-4);
}

TEST(NoddiFit, HasTheDiffusivitiesOfItsSettings) {
  noddi::settings s;
  s.d_par_mm2_per_s = 1.1e-3;
  s.d_iso_mm2_per_s = 2.0e-3;
  noddi_parameters truth = some_voxel;
  truth.d_par = 1.1, truth.d_iso = 2.0;
  expect_recovers(s, truth, noddi_gradients(30, {1000, 2000, 3000}), 1e-4);
}

TEST(NoddiFit, FindsADotThatDiffusionDoesNotAttenuate) {
  noddi::settings s;
  s.dot = true;
  noddi_parameters truth = some_voxel;
  truth.dot = 0.15;
  expect_recovers(s, truth, noddi_gradients(40, {1000, 3000, 6000}), 1e-3);
}

/// Every volume may have its own b-value, as where scanners write what they measured.
TEST(NoddiFit, HasATableForEachBValue) {
  gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  for (std::size_t k = 0; k < g.size(); ++k) g.b_s_per_mm2[k] += 5.0 * static_cast<double>(k % 5);
  expect_recovers({}, some_voxel, g, 1e-4);
}

TEST(NoddiFit, RicianNoiseRemovesTheBiasOfTheNoiseFloor) {
  const gradient_table g = noddi_gradients(30, {1000, 2000, 3000});
  const double sigma = 800.0 / 15;
  const std::vector<float> rows = draw_signals(std::vector<noddi_parameters>(200, some_voxel), g, sigma, 7);
  noddi::settings rician;
  rician.noise = noddi::noise_model::rician;
  noddi::settings known = rician;
  known.sigma = sigma;
  const auto bias = [&](const noddi::settings& s) {
    const noddi_run run(one_thread, g, s, rows);
    double sum = 0;
    for (std::size_t i = 0; i < 200; ++i) sum += at(run, "NDI", i) - some_voxel.ndi;
    return sum / 200;
  };
  EXPECT_GT(bias({}), 0.03);
  EXPECT_LT(std::abs(bias(rician)), 0.02);
  EXPECT_LT(std::abs(bias(known)), 0.02);
  const noddi_run run(one_thread, g, rician, rows);
  double mean_sigma = 0;
  for (std::size_t i = 0; i < 200; ++i) mean_sigma += at(run, "sigma", i) / 200;
  EXPECT_NEAR(mean_sigma, sigma, 0.02 * sigma);
}

TEST(NoddiFit, SaysWhyAVoxelHasNoFit) {
  const gradient_table g = noddi_gradients(30, {1000, 2000});
  std::vector<float> rows(3 * g.size(), 0.0f);
  for (std::size_t k = 0; k < g.size(); ++k) rows[g.size() + k] = 5;
  rows[2 * g.size() + 1] = NAN;
  noddi::settings s;
  s.samples = 4;
  const noddi_run run(one_thread, g, s, rows);
  const auto* const status = reinterpret_cast<const unsigned char*>(run["status"].data());
  EXPECT_EQ(status[0], 1);
  EXPECT_EQ(status[1], 2);
  EXPECT_EQ(status[2], 3);
  for (const std::string name : {"NDI", "ODI", "S0", "NDI_SD", "NDI_samples"})
    for (const float value : run[name]) EXPECT_EQ(value, 0.0f) << name;
}

TEST(NoddiFit, AnyNumberOfThreadsGivesTheSameBytes) {
  const gradient_table g = noddi_gradients(20, {1000, 2000});
  const std::vector<float> rows = draw_signals(draw_parameters(20, 1), g, 30, 2);
  noddi::settings s;
  s.samples = 5;
  s.burn_in_jumps = 50;
  s.sample_every = 5;
  EXPECT_EQ(noddi_run(one_thread, g, s, rows).all(), noddi_run(two_threads, g, s, rows).all());
}

/// Its own number in the image keys a voxel's random numbers.
TEST(NoddiChain, IsThatOfTheVoxelsOwnNumber) {
  const gradient_table g = noddi_gradients(20, {1000, 2000});
  const std::vector<float> rows = draw_signals(draw_parameters(2, 1), g, 30, 2);
  noddi::settings s;
  s.samples = 5;
  s.burn_in_jumps = 50;
  const noddi_run both(one_thread, g, s, rows, {7, 9});
  const noddi_run second(one_thread, g, s, {rows.begin() + static_cast<std::ptrdiff_t>(g.size()), rows.end()}, {9});
  const noddi_run other(one_thread, g, s, {rows.begin() + static_cast<std::ptrdiff_t>(g.size()), rows.end()}, {8});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(both["NDI_samples"][5 + i], second["NDI_samples"][i]);
  EXPECT_NE(second["NDI_samples"][0], other["NDI_samples"][0]);
}

/// ODI of the mean kappa is not the mean ODI.
TEST(NoddiChain, MeansAndDeviationsAreThoseOfTheSamples) {
  const gradient_table g = noddi_gradients(20, {1000, 2000});
  for (const bool rician : {false, true}) {
    noddi::settings s;
    s.samples = 50;
    s.dot = rician;
    s.noise = rician ? noddi::noise_model::rician : noddi::noise_model::gaussian;
    const noddi_run run(one_thread, g, s, draw_signals({some_voxel}, g, 40, 2));
    for (const std::string name : {"NDI", "ODI", "FWF", "kappa"}) {
      double mean = 0, squares = 0;
      for (std::size_t i = 0; i < 50; ++i) mean += at(run, name + "_samples", i) / 50;
      for (std::size_t i = 0; i < 50; ++i) squares += std::pow(at(run, name + "_samples", i) - mean, 2);
      EXPECT_NEAR(at(run, name, 0), mean, 1e-5 * mean) << name;
      EXPECT_NEAR(at(run, name + "_SD", 0), std::sqrt(squares / 49), 1e-4 * mean) << name;
    }
    for (std::size_t i = 0; i < 50; ++i)
      EXPECT_NEAR(at(run, "ODI_samples", i), noddi::odi_of(at(run, "kappa_samples", i)), 1e-5);
    if (rician) {
      EXPECT_NEAR(at(run, "sigma", 0), 40, 5 * at(run, "sigma_SD", 0));
    }
  }
}

}  // namespace
