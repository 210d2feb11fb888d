#include <gtest/gtest.h>

#include <limits>

#include "kernels/ballstick/ballstick_cpu.hpp"
#include "tests/ballstick/reference/ballstick_case.hpp"

namespace {

using namespace voxherd;
namespace ref = voxherd::reference;

/// The program's and the reference's settings for the same run.
struct both_settings {
  ballstick::settings program;
  ref::ballstick_settings reference;
};

both_settings make_settings(int model, int fibres, bool unattenuated) {
  both_settings s;
  s.program.model = static_cast<ballstick::diffusion_model>(model);
  s.program.fibres = s.reference.fibres = fibres;
  s.program.unattenuated = s.reference.unattenuated = unattenuated;
  s.program.noise = ballstick::noise_model::rician;  // so that tau is one of the results
  s.reference.model = model;
  return s;
}

struct started {
  ref::ballstick_parameters parameters;
  double sum_of_squares;
};

started fit(const ballstick::settings& s, const gradient_table& gradients, const std::vector<double>& signals,
            const float* deviation = nullptr) {
  const std::vector<float> row(signals.begin(), signals.end());
  const auto l = ballstick::make_parameter_layout(s);
  std::vector<float> start(static_cast<std::size_t>(l.count));
  started result;
  result.sum_of_squares = ballstick::make_cpu_start_fitter(s, gradients)->fit(row.data(), deviation, start.data());
  const auto get = [&](int place) {
    return place < 0 ? 0 : static_cast<double>(start[static_cast<std::size_t>(place)]);
  };
  ref::ballstick_parameters& p = result.parameters;
  p.s0 = get(l.s0), p.d = get(l.d), p.d_std = get(l.d_std), p.ratio = get(l.ratio), p.f0 = get(l.f0),
  p.tau = get(l.tau);
  for (int k = 0; k < s.fibres; ++k) {
    const auto slot = static_cast<std::size_t>(k);
    p.th[slot] = get(l.th(k)), p.ph[slot] = get(l.ph(k)), p.f[slot] = get(l.f(k));
  }
  return result;
}

void expect_near(const ref::ballstick_parameters& found, const ref::ballstick_parameters& truth, int fibres) {
  EXPECT_NEAR(found.s0, truth.s0, 1e-4 * truth.s0);
  EXPECT_NEAR(found.d, truth.d, 1e-4 * truth.d);
  EXPECT_NEAR(found.d_std, truth.d_std, 1e-4 * truth.d_std);
  EXPECT_NEAR(found.f0, truth.f0, 1e-4);
  for (int k = 0; k < fibres; ++k) {
    EXPECT_NEAR(found.f[static_cast<std::size_t>(k)], truth.f[static_cast<std::size_t>(k)], 1e-4);
    EXPECT_LT(ref::axis_angle(ref::fibre_direction(found, k), ref::fibre_direction(truth, k)), 1e-4);
  }
}

/// model, fibres, unattenuated
class BallstickFit : public testing::TestWithParam<std::tuple<int, int, bool>> {
 protected:
  both_settings settings = std::apply(make_settings, GetParam());
  /// Three shells: with two, a Gamma ball with f0 has a second exact solution. 141 does not fill an integer number of
  /// registers.
  gradient_table gradients = ref::spiral_shells(6, 45, {700, 1500, 3000});
  std::mt19937_64 random{17};
};

TEST_P(BallstickFit, RecoversNoiseFreeSignals) {
  const auto truth = ref::known_voxel(settings.reference);
  const auto found = fit(settings.program, gradients, ref::ballstick_signals(settings.reference, truth, gradients));
  expect_near(found.parameters, truth, settings.reference.fibres);
}

TEST_P(BallstickFit, StartsWithinTheSupportForAnySignal) {
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<double> noise(gradients.size());
    for (double& y : noise) y = std::abs(normal(random)) * (trial % 2 == 0 ? 1e-3 : 1e6) + (trial % 3 == 0 ? 3 : 0);
    const auto p = fit(settings.program, gradients, noise).parameters;
    EXPECT_LT(ref::prior_energy(settings.reference, p), std::numeric_limits<double>::infinity());
    EXPECT_GT(p.d, 0);
    EXPECT_GT(p.tau, 0);
    EXPECT_TRUE(std::is_sorted(p.f.begin(), p.f.begin() + settings.reference.fibres, std::greater<>()));
  }
}

/// Several fibres have several minima: either method may end in the better one.
TEST_P(BallstickFit, IsOnAverageNotWorseThanTheReference) {
  double found = 0, expected = 0;
  for (int trial = 0; trial < 4; ++trial) {
    const auto truth = ref::known_voxel(settings.reference);
    const auto signals = ref::noisy_signals(settings.reference, truth, gradients, 25, random);
    expected += ref::fit_ballstick(settings.reference, gradients, signals).sum_of_squares;
    found += fit(settings.program, gradients, signals).sum_of_squares;
  }
  EXPECT_LE(found, expected * (settings.reference.fibres < 3 ? 1.0001 : 1.01));
}

INSTANTIATE_TEST_SUITE_P(Models, BallstickFit,
                         testing::Combine(testing::Values(1, 2, 3), testing::Values(1, 2, 3, 4), testing::Bool()));

TEST(BallstickFit, AgreesWithTheReferenceOnNoisySignals) {
  const auto gradients = ref::spiral_shells(6, 64, {1000, 2500});
  std::mt19937_64 random(5);
  for (int model = 1; model <= 3; ++model) {
    const auto s = make_settings(model, 2, false);
    const auto signals = ref::noisy_signals(s.reference, ref::known_voxel(s.reference), gradients, 25, random);
    const auto found = fit(s.program, gradients, signals);
    const auto expected = ref::fit_ballstick(s.reference, gradients, signals);
    EXPECT_NEAR(found.sum_of_squares, expected.sum_of_squares, 1e-5 * expected.sum_of_squares);
    EXPECT_NEAR(found.parameters.s0, expected.parameters.s0, 1e-3 * expected.parameters.s0);
    EXPECT_NEAR(found.parameters.d, expected.parameters.d, 3e-3 * expected.parameters.d);
    EXPECT_NEAR(found.parameters.tau, expected.parameters.tau, 1e-2 * expected.parameters.tau);
    for (int k = 0; k < 2; ++k) {
      EXPECT_NEAR(found.parameters.f[static_cast<std::size_t>(k)], expected.parameters.f[static_cast<std::size_t>(k)],
                  1e-3);
      EXPECT_LT(
          ref::axis_angle(ref::fibre_direction(found.parameters, k), ref::fibre_direction(expected.parameters, k)),
          3e-3);
    }
  }
}

TEST(BallstickFit, RecoversMostRandomCrossingsOfThreeFibres) {
  const auto gradients = ref::spiral_shells(9, 64, {1000, 2500});
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform;
  for (int model = 1; model <= 3; ++model) {
    const auto s = make_settings(model, 3, false);
    int recovered = 0;
    for (int trial = 0; trial < 100; ++trial) {
      auto truth = ref::known_voxel(s.reference);
      const auto too_close = [&](int k) {
        for (int j = 0; j < k; ++j)
          if (ref::axis_angle(ref::fibre_direction(truth, j), ref::fibre_direction(truth, k)) < 0.7) return true;
        return false;
      };
      for (int k = 0; k < 3; ++k) do {
          truth.th[static_cast<std::size_t>(k)] = std::acos(2 * uniform(random) - 1);
          truth.ph[static_cast<std::size_t>(k)] = 2 * std::numbers::pi * uniform(random);
        } while (too_close(k));
      const auto found = fit(s.program, gradients, ref::ballstick_signals(s.reference, truth, gradients)).parameters;
      const double angle = ref::axis_angle(ref::fibre_direction(found, 2), ref::fibre_direction(truth, 2));
      recovered += angle < 1e-4 && std::abs(found.f[2] - truth.f[2]) < 1e-4 ? 1 : 0;
    }
    EXPECT_GE(recovered, 95) << "model " << model;
  }
}

TEST(BallstickFit, DoesNotDependOnTheUnitOfTheSignal) {
  const auto s = make_settings(2, 2, false);
  const auto gradients = ref::spiral_shells(6, 64, {1000, 2500});
  std::mt19937_64 random(5);
  auto signals = ref::noisy_signals(s.reference, ref::known_voxel(s.reference), gradients, 25, random);
  const auto before = fit(s.program, gradients, signals).parameters;
  for (double& y : signals) y *= 1024;
  const auto after = fit(s.program, gradients, signals).parameters;
  EXPECT_NEAR(after.s0, 1024 * before.s0, 1e-3 * after.s0);
  EXPECT_NEAR(after.d, before.d, 1e-4 * before.d);
  EXPECT_NEAR(after.f[1], before.f[1], 1e-4);
}

TEST(BallstickFit, EndsForSignalsThatCannotBeFitted) {
  const auto s = make_settings(2, 3, true);
  const auto gradients = ref::spiral_shells(6, 64, {1000, 2500});
  for (const double value : {0.0, 7.0, -3.0, std::numeric_limits<double>::quiet_NaN()})
    fit(s.program, gradients, std::vector<double>(gradients.size(), value));
  const auto p = fit(s.program, gradients, std::vector<double>(gradients.size(), 7.0)).parameters;
  EXPECT_LT(ref::prior_energy(s.reference, p), std::numeric_limits<double>::infinity());
}

TEST(BallstickFit, UsesGradientDeviations) {
  const auto s = make_settings(1, 2, false);
  const auto gradients = ref::spiral_shells(6, 64, {1000, 2500});
  const float deviation[9] = {0.05f, 0.02f, -0.01f, -0.03f, -0.04f, 0.02f, 0.01f, 0.06f, 0.03f};
  gradient_table bent = gradients;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const double g[3] = {gradients.x[i], gradients.y[i], gradients.z[i]};
    double v[3], length2 = 0;
    for (std::size_t line = 0; line < 3; ++line) {
      v[line] = g[line];
      for (std::size_t column = 0; column < 3; ++column)
        v[line] += static_cast<double>(deviation[3 * column + line]) * g[column];
      length2 += v[line] * v[line];
    }
    const double length = length2 > 0 ? std::sqrt(length2) : 1;
    bent.x[i] = v[0] / length, bent.y[i] = v[1] / length, bent.z[i] = v[2] / length;
    bent.b_s_per_mm2[i] *= length2;
  }
  const auto truth = ref::known_voxel(s.reference);
  const auto signals = ref::ballstick_signals(s.reference, truth, bent);
  expect_near(fit(s.program, gradients, signals, deviation).parameters, truth, 2);
}

}  // namespace
