#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kernels/phantom/phantom_signals.hpp"
#include "src/phantom/dwi_phantom.hpp"

namespace {

using namespace voxherd;

const dwi_phantom_settings& preset(const std::string& name) {
  for (const auto& p : dwi_phantom_presets())
    if (p.name == name) return p;
  throw std::out_of_range(name);
}

anatomy brain_of(const dwi_phantom_settings& p) { return anatomy(p.size, p.brain_size, p.fibres); }

double degrees_between(const direction3& a, const direction3& b) {
  const double cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  return std::acos(std::fmin(1, std::fabs(cosine))) * 180 / std::numbers::pi;
}

TEST(Crossings, AllFibresOfABlockCrossAtItsAngle) {
  const std::array<std::uint64_t, 3> size{5, 4, 7};
  const std::vector<double> degrees{20, 55, 90};
  for (std::size_t fibres = 1; fibres <= 3; ++fibres) {
    const crossings all(size, degrees, fibres);
    for (std::uint64_t v = 0; v < 140; ++v) {
      const tissue t = all.at(v);
      const double expected = degrees[v / 20 < 3 ? 0 : v / 20 < 5 ? 1 : 2];
      ASSERT_EQ(t.fibres, fibres);
      for (std::size_t i = 0; i < fibres; ++i) {
        EXPECT_NEAR(std::hypot(t.direction[i][0], t.direction[i][1], t.direction[i][2]), 1, 1e-12);
        for (std::size_t j = 0; j < i; ++j)
          EXPECT_NEAR(degrees_between(t.direction[i], t.direction[j]), expected, 1e-6);
      }
    }
  }
}

TEST(Crossings, OrientationsAreUniform) {
  const crossings all({20, 20, 20}, {90}, 1);
  std::array<double, 3> square{};
  for (std::uint64_t v = 0; v < 8000; ++v)
    for (std::size_t c = 0; c < 3; ++c) square[c] += all.at(v).direction[0][c] * all.at(v).direction[0][c] / 8000;
  // The variance of a squared component is 4/45.
  for (const double s : square) EXPECT_NEAR(s, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / 8000));
}

TEST(DwiPhantom, PresetsHaveTheSizesOfTheirModels) {
  EXPECT_EQ(preset("clinical").size, (std::array<std::uint64_t, 3>{96, 96, 30}));
  EXPECT_EQ(preset("clinical").voxel_size_mm, 2);
  EXPECT_EQ(preset("clinical").shells.at(0).directions, 64u);
  EXPECT_EQ(preset("paper-hires").size, (std::array<std::uint64_t, 3>{140, 168, 102}));
  EXPECT_EQ(preset("paper-hires").voxel_size_mm, 1.25);
  EXPECT_EQ(preset("hcp").size, (std::array<std::uint64_t, 3>{145, 174, 145}));
  EXPECT_EQ(preset("hcp").volumes(), 288u);
  EXPECT_NEAR(double(brain_of(preset("hcp")).mask_count()), 900000, 1000);
}

TEST(DwiPhantom, EveryPresetHasVoxelsOfEveryKind) {
  for (const auto& p : dwi_phantom_presets()) {
    const anatomy brain = brain_of(p);
    std::array<std::size_t, 4> with_fibres{};
    std::size_t fluid = 0;
    for (std::uint64_t v = 0; v < p.size[0] * p.size[1] * p.size[2]; ++v) {
      const tissue t = brain.at(v);
      if (!t.inside) continue;
      ++with_fibres[t.fibres];
      fluid += t.d_mm2_per_s == 3.0e-3 ? 1 : 0;
    }
    EXPECT_GT(fluid, 20u) << p.name;
    for (const std::size_t count : with_fibres) EXPECT_GT(count, 20u) << p.name;
  }
}

TEST(DwiPhantom, FractionsDecreaseAndSumToLessThanOne) {
  const auto p = preset("toy");
  const anatomy brain = brain_of(p);
  for (std::uint64_t v = 0; v < p.size[0] * p.size[1] * p.size[2]; ++v) {
    const tissue t = brain.at(v);
    double sum = 0;
    for (std::size_t j = 0; j < t.fibres; ++j) {
      EXPECT_GE(t.fraction[j], 0.15);
      if (j > 0) {
        EXPECT_LE(t.fraction[j], t.fraction[j - 1]);
      }
      const auto& x = t.direction[j];
      EXPECT_NEAR(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], 1, 1e-12);
      sum += t.fraction[j];
    }
    EXPECT_LE(sum, 0.9);
  }
}

TEST(DwiPhantom, BundlesCrossAtSixtyToNinetyDegrees) {
  const auto& p = preset("clinical");
  const anatomy brain = brain_of(p);
  double least = 90, most = 0;
  for (std::uint64_t v = 0; v < p.size[0] * p.size[1] * p.size[2]; ++v) {
    const tissue t = brain.at(v);
    for (std::size_t i = 0; i < t.fibres; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        double cosine = 0;
        for (std::size_t c = 0; c < 3; ++c) cosine += t.direction[i][c] * t.direction[j][c];
        const double degrees = std::acos(std::min(1., std::fabs(cosine))) * 180 / M_PI;
        least = std::min(least, degrees), most = std::max(most, degrees);
      }
  }
  EXPECT_GE(least, 59.9);
  EXPECT_LT(least, 65);
  EXPECT_NEAR(most, 90, 0.1);
}

TEST(DwiSamples, WithoutNoiseEqualTheBallAndStickFormula) {
  tissue t;
  t.inside = true, t.fibres = 2;
  t.fraction = {0.5, 0.2};
  t.direction[0] = {1, 0, 0};
  t.direction[1] = {0, 0.6, 0.8};
  t.d_mm2_per_s = 1e-3, t.S0 = 1000;
  gradient_table g;
  g.x = {0, 1, 0}, g.y = {0, 0, 0}, g.z = {0, 0, 1};
  g.b_s_per_mm2 = {0, 1000, 2000};
  const double expected[3] = {
      1000,
      1000 * (0.5 * std::exp(-1.0) + 0.2 * 1 + 0.3 * std::exp(-1.0)),
      1000 * (0.5 * 1 + 0.2 * std::exp(-2 * 0.64) + 0.3 * std::exp(-2.0)),
  };
  for (std::size_t k = 0; k < 3; ++k) {
    float sample = 0;
    make_dwi_samples({&t, 1}, 17, g, k, {noise_kind::none, 0, 1}, &sample);
    EXPECT_NEAR(sample, expected[k], 1e-4);
  }
}

struct moments {
  double mean = 0, deviation = 0;
};

moments sample_moments(double S0, noise_settings noise) {
  constexpr std::size_t count = 40000;
  tissue t;
  t.inside = true, t.S0 = S0;
  const std::vector<tissue> line(count, t);
  gradient_table g;
  g.x = g.y = g.z = g.b_s_per_mm2 = {0};
  std::vector<float> samples(count);
  make_dwi_samples(line, 1000, g, 0, noise, samples.data());
  moments m;
  for (const float y : samples) m.mean += double(y) / count;
  for (const float y : samples) m.deviation += (y - m.mean) * (y - m.mean) / count;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST(DwiSamples, NoiseHasTheMomentsOfItsDistribution) {
  const double four_standard_errors = 4 * 10 / std::sqrt(40000.);
  const moments gaussian = sample_moments(50, {noise_kind::gaussian, 10, 3});
  EXPECT_NEAR(gaussian.mean, 50, four_standard_errors);
  EXPECT_NEAR(gaussian.deviation, 10, four_standard_errors);
  // Without signal a Rician is a Rayleigh distribution: mean sigma sqrt(pi/2), variance sigma^2 (4 - pi)/2.
  const moments rayleigh = sample_moments(0, {noise_kind::rician, 10, 3});
  EXPECT_NEAR(rayleigh.mean, 10 * std::sqrt(M_PI / 2), four_standard_errors);
  EXPECT_NEAR(rayleigh.deviation, 10 * std::sqrt((4 - M_PI) / 2), four_standard_errors);
}

TEST(DwiSamples, DependOnlyOnSeedVoxelAndVolume) {
  tissue t;
  t.inside = true, t.S0 = 100;
  const std::vector<tissue> line(8, t);
  gradient_table g;
  g.x = g.y = g.z = g.b_s_per_mm2 = {0, 0};
  const noise_settings noise{noise_kind::rician, 5, 9};
  float whole[8], part[3], other_volume[8], other_seed[8];
  make_dwi_samples(line, 100, g, 0, noise, whole);
  make_dwi_samples(std::span(line).first(3), 104, g, 0, noise, part);
  make_dwi_samples(line, 100, g, 1, noise, other_volume);
  make_dwi_samples(line, 100, g, 0, {noise_kind::rician, 5, 10}, other_seed);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(part[i], whole[4 + i]);
  for (int i = 0; i < 8; ++i) {
    EXPECT_NE(whole[i], other_volume[i]);
    EXPECT_NE(whole[i], other_seed[i]);
  }
}

}  // namespace
