#include "tests/ballstick/reference/ballstick_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/ballstick/reference/ballstick_case.hpp"

namespace {

using namespace voxherd::reference;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// One fibre along z, S0 = 1000, d = 0.001, f = 0.6: at b = 1000 the ball's signal is 1/e.
ballstick_parameters fibre_along_z() {
  ballstick_parameters p;
  p.s0 = 1000;
  p.d = 0.001;
  p.d_std = 0.001;
  p.ratio = 0.13;
  p.f[0] = 0.6;
  p.th[0] = 1e-300;
  return p;
}

ballstick_settings one_fibre(int model) {
  ballstick_settings s;
  s.model = model;
  s.fibres = 1;
  return s;
}

double along(const ballstick_settings& s, const ballstick_parameters& p) {
  return ballstick_signal(s, p, 1000, 0, 0, 1);
}
double across(const ballstick_settings& s, const ballstick_parameters& p) {
  return ballstick_signal(s, p, 1000, 1, 0, 0);
}

TEST(BallstickReferenceSignal, OfModel1AgreesWithBehrens2003) {
  const auto s = one_fibre(1);
  const auto p = fibre_along_z();
  EXPECT_NEAR(along(s, p), 367.87944117144233, 1e-9);
  EXPECT_NEAR(across(s, p), 600 + 400 * 0.36787944117144233, 1e-9);
}

TEST(BallstickReferenceSignal, OfModel2WithEqualMeanAndSpreadIsAnInverseLine) {
  // Shape 1: the Gamma distribution is exponential, and the attenuation is 1 / (1 + b s^2 / d).
  const auto s = one_fibre(2);
  EXPECT_NEAR(along(s, fibre_along_z()), 500, 1e-9);
  EXPECT_NEAR(across(s, fibre_along_z()), 600 + 400 * 0.5, 1e-9);
}

TEST(BallstickReferenceSignal, OfModel2TendsToModel1AsTheSpreadVanishes) {
  auto p = fibre_along_z();
  for (const double spread : {2e-5, 1.01e-5, 0.99e-5, 1e-9}) {
    p.d_std = spread;
    EXPECT_NEAR(along(one_fibre(2), p), along(one_fibre(1), p), 0.08);
    EXPECT_NEAR(across(one_fibre(2), p), across(one_fibre(1), p), 0.08);
  }
}

TEST(BallstickReferenceSignal, OfModel3DependsOnTheRatioOfDiffusivities) {
  auto p = fibre_along_z();
  p.f[0] = 1;
  p.ratio = 1;
  EXPECT_NEAR(along(one_fibre(3), p), 367.87944117144233, 1e-9);
  EXPECT_NEAR(across(one_fibre(3), p), 367.87944117144233, 1e-9);
  p.ratio = 0;
  EXPECT_NEAR(along(one_fibre(3), p), 1000 * std::exp(-3.0), 1e-9);
  EXPECT_NEAR(across(one_fibre(3), p), 1000, 1e-9);
  p.ratio = 0.25;
  EXPECT_NEAR(across(one_fibre(3), p), 1000 * std::exp(-0.5), 1e-9);
}

TEST(BallstickReferenceSignal, WithoutWeightingIsS0ForEveryModel) {
  for (int model = 1; model <= 3; ++model) {
    auto s = one_fibre(model);
    s.unattenuated = true;
    auto p = fibre_along_z();
    p.f0 = 0.1;
    EXPECT_NEAR(ballstick_signal(s, p, 0, 0, 0, 0), 1000, 1e-9);
  }
}

TEST(BallstickReferenceSignal, WithoutFibresIsTheBall) {
  auto p = fibre_along_z();
  p.f[0] = 0;
  EXPECT_NEAR(along(one_fibre(1), p), 367.87944117144233, 1e-9);
  EXPECT_NEAR(across(one_fibre(1), p), 367.87944117144233, 1e-9);
  EXPECT_NEAR(across(one_fibre(3), p), 500, 1e-9);
}

TEST(BallstickReferenceSignal, KeepsTheUnattenuatedFraction) {
  auto s = one_fibre(1);
  s.unattenuated = true;
  auto p = fibre_along_z();
  p.f0 = 0.1;
  EXPECT_NEAR(across(s, p), 600 + 300 * 0.36787944117144233 + 100, 1e-9);
}

TEST(BallstickReferenceEnergy, OfGaussianNoiseIsHalfKLogHalfSse) {
  EXPECT_NEAR(gaussian_energy({1, 2, 3}, {2, 4, 1}), 1.5 * std::log(4.5), 1e-12);
}

TEST(BallstickReferenceEnergy, LogBesselMatchesTabulatedValues) {
  EXPECT_EQ(log_bessel_i0(0), 0);
  EXPECT_NEAR(std::exp(log_bessel_i0(1)), 1.2660658777520084, 1e-12);
  EXPECT_NEAR(log_bessel_i0(10), std::log(2815.716628466254), 1e-12);
  EXPECT_NEAR(log_bessel_i0(50), std::log(2.93255378384933e20), 1e-12);
  EXPECT_NEAR(log_bessel_i0(30.0001) - log_bessel_i0(29.9999), 0.0002 * (1 - 0.5 / 30), 1e-7);
}

TEST(BallstickReferenceEnergy, OfRicianNoiseIsMinusTheLogDensity) {
  // Density: tau y exp(-tau (y^2 + s^2) / 2) I0(tau y s); at s = 0 it is Rayleigh's.
  EXPECT_NEAR(rician_energy({2}, {0}, 0.5), -std::log(0.5) - std::log(2.0) + 0.25 * 4, 1e-12);
  EXPECT_NEAR(rician_energy({1}, {1}, 1), 1 - std::log(1.2660658777520084), 1e-12);
}

TEST(BallstickReferenceEnergy, ReplacesNonPositiveSamplesByTheSmallestPositiveOne) {
  EXPECT_EQ(positive_signals({3, -1, 0, 2}), (std::vector<double>{3, 2, 2, 2}));
  EXPECT_EQ(positive_signals({0, -1}), (std::vector<double>{0, 0}));
}

TEST(BallstickReferencePrior, OfAnAngleIsUniformOnTheSphere) {
  auto p = fibre_along_z();
  p.th[0] = std::numbers::pi / 6;
  EXPECT_NEAR(prior_energy(one_fibre(1), p), std::log(4.0), 1e-12);
  p.th[0] = 0;
  EXPECT_EQ(prior_energy(one_fibre(1), p), 0);
}

TEST(BallstickReferencePrior, ShrinksAllFibresButTheFirstByDefault) {
  auto s = one_fibre(1);
  s.fibres = 2;
  s.ard_weight = 2;
  auto p = fibre_along_z();
  p.th = {std::numbers::pi / 2, std::numbers::pi / 2};
  p.f = {0.5, 0.1};
  const double angles = 2 * std::log(2.0);
  EXPECT_NEAR(prior_energy(s, p), angles + 2 * std::log(0.1), 1e-12);
  s.ard = ard_fibres::all;
  EXPECT_NEAR(prior_energy(s, p), angles + 2 * std::log(0.1) + 2 * std::log(0.5), 1e-12);
  s.ard = ard_fibres::none;
  EXPECT_NEAR(prior_energy(s, p), angles, 1e-12);
  s.unattenuated = true;
  p.f0 = 0.2;
  EXPECT_NEAR(prior_energy(s, p), angles, 1e-12);
  s.ard_unattenuated = true;
  EXPECT_NEAR(prior_energy(s, p), angles + std::log(0.2), 1e-12);
}

TEST(BallstickReferencePrior, OfModels2And3HasAdditionalTerms) {
  auto p = fibre_along_z();
  p.th[0] = 0;
  p.d_std = 0.002;
  p.d = 0.0015;
  p.ratio = 0.16;
  EXPECT_NEAR(prior_energy(one_fibre(2), p), std::log(0.002), 1e-12);
  EXPECT_NEAR(prior_energy(one_fibre(3), p), std::log(0.002) - 2 * std::log(0.0015) + 6 + 1, 1e-9);
}

TEST(BallstickReferencePrior, IsInfiniteOutsideItsSupport) {
  const auto refuses = [](int model, auto change) {
    auto s = one_fibre(model);
    s.unattenuated = true;
    s.rician = true;
    auto p = fibre_along_z();
    p.f0 = 0.1;
    p.tau = 1;
    EXPECT_LT(prior_energy(s, p), infinite);
    change(p);
    return prior_energy(s, p) == infinite;
  };
  EXPECT_TRUE(refuses(1, [](auto& p) { p.s0 = -1; }));
  EXPECT_TRUE(refuses(1, [](auto& p) { p.d = -1e-9; }));
  EXPECT_TRUE(refuses(1, [](auto& p) { p.d = 0.00501; }));
  EXPECT_TRUE(refuses(1, [](auto& p) { p.f[0] = 0; }));
  EXPECT_TRUE(refuses(1, [](auto& p) { p.f[0] = 0.95; }));
  EXPECT_TRUE(refuses(1, [](auto& p) { p.f0 = 0; }));
  EXPECT_TRUE(refuses(1, [](auto& p) { p.tau = 0; }));
  EXPECT_TRUE(refuses(2, [](auto& p) { p.d_std = 0.0101; }));
  EXPECT_TRUE(refuses(2, [](auto& p) { p.d_std = 0; }));
  EXPECT_TRUE(refuses(3, [](auto& p) { p.d_std = 0.0041; }));
  EXPECT_TRUE(refuses(3, [](auto& p) { p.ratio = 0.06; }));
  EXPECT_TRUE(refuses(3, [](auto& p) { p.ratio = 0.27; }));
}

/// model, fibres, unattenuated
class BallstickReferenceFit : public testing::TestWithParam<std::tuple<int, int, bool>> {};

TEST_P(BallstickReferenceFit, RecoversNoiseFreeSignals) {
  ballstick_settings s;
  std::tie(s.model, s.fibres, s.unattenuated) = GetParam();
  const auto gradients = spiral_shells(6, 64, {1000, 2500});
  const auto truth = known_voxel(s);
  const auto fit = fit_ballstick(s, gradients, ballstick_signals(s, truth, gradients)).parameters;
  EXPECT_NEAR(fit.s0, truth.s0, 1e-4 * truth.s0);
  EXPECT_NEAR(fit.d, truth.d, 1e-4 * truth.d);
  if (s.model > 1) {
    EXPECT_NEAR(fit.d_std, truth.d_std, 1e-4 * truth.d_std);
  }
  EXPECT_NEAR(fit.f0, truth.f0, 1e-4);
  for (int k = 0; k < s.fibres; ++k) {
    EXPECT_NEAR(fit.f[k], truth.f[k], 1e-4);
    EXPECT_LT(axis_angle(fibre_direction(fit, k), fibre_direction(truth, k)), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, BallstickReferenceFit,
                         testing::Combine(testing::Values(1, 2, 3), testing::Values(1, 2, 3), testing::Values(false)));

// With f0 and several fibres this method often ends at f0 = 0, where its parametrisation has zero slope.
INSTANTIATE_TEST_SUITE_P(Unattenuated, BallstickReferenceFit,
                         testing::Combine(testing::Values(1, 2), testing::Values(1), testing::Values(true)));

TEST(BallstickReferenceFit, RecoversNoiseFreeSignalsInTheOldParametrisation) {
  ballstick_settings s;
  s.constrained_fit = false;
  const auto gradients = spiral_shells(6, 64, {1000, 2500});
  const auto truth = known_voxel(s);
  const auto fit = fit_ballstick(s, gradients, ballstick_signals(s, truth, gradients)).parameters;
  EXPECT_NEAR(fit.d, truth.d, 1e-4 * truth.d);
  for (int k = 0; k < 2; ++k) {
    EXPECT_NEAR(fit.f[k], truth.f[k], 1e-4);
    EXPECT_LT(axis_angle(fibre_direction(fit, k), fibre_direction(truth, k)), 1e-4);
  }
}

TEST(BallstickReferenceFit, EstimatesThePrecisionOfTheNoise) {
  ballstick_settings s;
  const auto gradients = spiral_shells(20, 256, {1000, 2500});
  std::mt19937_64 random(1);
  const auto fit = fit_ballstick(s, gradients, noisy_signals(s, known_voxel(s), gradients, 20, random)).parameters;
  EXPECT_NEAR(fit.tau, 1.0 / 400, 0.15 / 400);
}

TEST(BallstickReferenceSampler, UpdatesScalarsInBedpostOrder) {
  ballstick_settings s;
  s.model = 3;
  s.fibres = 1;
  s.unattenuated = s.rician = true;
  std::vector<scalar> order;
  for (const auto& u : jump_updates(s)) order.push_back(u.what);
  EXPECT_EQ(order, (std::vector<scalar>{scalar::f0, scalar::tau, scalar::d, scalar::d_std, scalar::ratio, scalar::s0,
                                        scalar::th, scalar::ph, scalar::f}));
}

TEST(BallstickReferenceSampler, StoresEveryNthJumpAfterBurnIn) {
  ballstick_settings s = one_fibre(1);
  s.burn_in = 10;
  s.jumps = 53;
  s.sample_every = 10;
  const auto gradients = spiral_shells(2, 20, {1000});
  std::mt19937_64 random(1);
  const auto truth = known_voxel(s);
  const auto posterior =
      sample_ballstick(s, gradients, noisy_signals(s, truth, gradients, 20, random), truth, ordinary_draws(random));
  EXPECT_EQ(posterior.samples.size(), 5u);
  EXPECT_EQ(posterior.acceptance.size(), 5u);
}

TEST(BallstickReferenceSampler, FindsTheTruthWithinItsPosteriorSpread) {
  for (const bool rician : {false, true}) {
    ballstick_settings s;
    s.rician = rician;
    s.burn_in = 400;
    s.jumps = 1000;
    s.sample_every = 10;
    const auto gradients = spiral_shells(6, 60, {1500});
    std::mt19937_64 random(3);
    const auto truth = known_voxel(s);
    const auto measured = noisy_signals(s, truth, gradients, 25, random);
    const auto start = fit_ballstick(s, gradients, measured).parameters;
    const auto posterior = sample_ballstick(s, gradients, measured, start, ordinary_draws(random));
    EXPECT_NEAR(posterior.mean.s0, truth.s0, 30);
    EXPECT_NEAR(posterior.mean.d, truth.d, 1e-4);
    for (int k = 0; k < 2; ++k) {
      EXPECT_NEAR(posterior.mean.f[k], truth.f[k], 0.05);
      EXPECT_LT(axis_angle(posterior.dyads[k], fibre_direction(truth, k)), 0.1);
      EXPECT_LT(posterior.dispersion[k], 0.02);
    }
    if (rician) {
      EXPECT_NEAR(posterior.mean.tau, 1.0 / 625, 0.5 / 625);
    }
    for (const double rate : posterior.acceptance) EXPECT_NEAR(rate, 0.5, 0.15);
  }
}

}  // namespace
