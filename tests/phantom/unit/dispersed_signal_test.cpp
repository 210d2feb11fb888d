#include "kernels/phantom/dispersed_signal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace {

using namespace voxherd;

double tensor_attenuation(const bundle_diffusion& t, double b, double cosine) {
  return std::exp(-b * (t.radial_mm2_per_s + (t.axial_mm2_per_s - t.radial_mm2_per_s) * cosine * cosine));
}

/// The mean over the distribution on a fine grid of polar and azimuthal angles.
double averaged(const bundle_diffusion& t, double b, double degrees) {
  const double sine = std::sin(degrees * std::numbers::pi / 180), cosine = std::cos(degrees * std::numbers::pi / 180);
  double sum = 0, weights = 0;
  constexpr int polar = 2000, azimuthal = 180;
  for (int i = 0; i < polar; ++i) {
    const double z = 1 - 2 * (i + 0.5) / polar, r = std::sqrt(1 - z * z), weight = std::exp(t.concentration * (z - 1));
    for (int j = 0; j < azimuthal; ++j) {
      const double x = r * std::cos(2 * std::numbers::pi * j / azimuthal);
      sum += weight * tensor_attenuation(t, b, x * sine + z * cosine);
      weights += weight;
    }
  }
  return sum / weights;
}

TEST(DispersedSignal, IsTheMeanOverTheDistributionOfDirections) {
  const bundle_diffusion tissue{1.7e-3, 0.2e-3, 0, 50};
  for (const double b : {1000.0, 3000.0}) {
    const dispersed_signal signal(tissue, b);
    for (const double degrees : {0.0, 30.0, 75.0, 90.0})
      EXPECT_NEAR(signal(std::cos(degrees * std::numbers::pi / 180)), averaged(tissue, b, degrees), 3e-5);
  }
}

TEST(DispersedSignal, OfAConcentratedBundleIsItsTensor) {
  const bundle_diffusion tissue{1.7e-3, 0.2e-3, 0, 10000};
  const dispersed_signal signal(tissue, 1000);
  for (const double cosine : {0.0, 0.5, 1.0})
    EXPECT_NEAR(signal(cosine), tensor_attenuation(tissue, 1000, cosine), 1e-3);
}

TEST(DispersedSignal, OfSticksDoesNotDecayAcrossThem) {
  const bundle_diffusion sticks{1.7e-3, 0.7e-3, 1, 10000};
  EXPECT_NEAR(dispersed_signal(sticks, 3000)(0), 1, 1e-2);
  const bundle_diffusion half{1.7e-3, 0.7e-3, 0.5, 10000};
  EXPECT_NEAR(dispersed_signal(half, 3000)(0), 0.5 + 0.5 * std::exp(-2.1), 1e-2);
}

TEST(DispersedSignal, IsOneWithoutDiffusionWeighting) {
  EXPECT_NEAR(dispersed_signal(bundle_diffusion{}, 0)(0.3), 1, 1e-9);
}

}  // namespace
