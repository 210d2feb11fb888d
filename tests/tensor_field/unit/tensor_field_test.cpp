#include "kernels/tensor_field/field.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "tests/geodesic/reference/geodesic_field_case.hpp"
#include "tests/support/devices.hpp"

namespace {

using namespace voxherd;
using namespace voxherd::tensor_field;
using reference::expect_coefficients_equivalent_to_reference;
using reference::expect_field_equivalent_to_reference;

preparation with(metric_kind metric, double alpha = 1, double smoothing_voxels = 0) {
  return {metric, alpha, smoothing_voxels, 0.01};
}

TEST(GeodesicFieldCpu, InverseMetricIsEquivalentToReference) {
  for (const auto kind : {field_kind::tensor, field_kind::world, field_kind::christoffel})
    expect_field_equivalent_to_reference(two_threads, with(metric_kind::inverse), kind);
}

TEST(GeodesicFieldCpu, AdjugateMetricIsEquivalentToReference) {
  for (const auto kind : {field_kind::tensor, field_kind::world, field_kind::christoffel})
    expect_field_equivalent_to_reference(two_threads, with(metric_kind::adjugate), kind);
}

TEST(GeodesicFieldCpu, PowerMetricIsEquivalentToReference) {
  for (const auto kind : {field_kind::tensor, field_kind::world, field_kind::christoffel}) {
    expect_field_equivalent_to_reference(two_threads, with(metric_kind::power, 3), kind);
    expect_field_equivalent_to_reference(two_threads, with(metric_kind::power, 1.5), kind);
  }
}

TEST(GeodesicFieldCpu, JeongMetricIsEquivalentToReference) {
  for (const auto kind : {field_kind::tensor, field_kind::world, field_kind::christoffel})
    expect_field_equivalent_to_reference(two_threads, with(metric_kind::jeong, 2), kind);
}

TEST(GeodesicFieldCpu, SmoothingIsEquivalentToReference) {
  expect_field_equivalent_to_reference(two_threads, with(metric_kind::inverse, 1, 1), field_kind::tensor);
  expect_field_equivalent_to_reference(two_threads, with(metric_kind::inverse, 1, 0.6), field_kind::christoffel);
  expect_field_equivalent_to_reference(two_threads, with(metric_kind::adjugate, 1, 2), field_kind::world);
}

TEST(GeodesicFieldCpu, CoefficientsAreEquivalentToReference) {
  for (const auto kind : {field_kind::tensor, field_kind::world, field_kind::christoffel})
    expect_coefficients_equivalent_to_reference(two_threads, kind);
}

/// The same tensor everywhere; voxels of side 1 along the world axes.
tensor_image constant_image(std::array<std::uint64_t, 3> size, const std::array<float, 6>& tensor) {
  tensor_image image;
  image.size = size;
  image.axes_mm = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (std::uint64_t i = 0; i < size[0] * size[1] * size[2]; ++i) {
    image.tensor.insert(image.tensor.end(), tensor.begin(), tensor.end());
    image.inside.push_back(1);
  }
  return image;
}

constexpr std::array<float, 6> white_matter{1.7e-3f, 1e-4f, -5e-5f, 3e-4f, 2e-5f, 4e-4f};

TEST(GeodesicFieldCpu, CoefficientsInterpolateTheSamples) {
  const tensor_image image = reference::uneven_tensors();
  const auto samples = host_values(*make_field(two_threads, image, {}, {}, field_kind::tensor, false));
  const auto coefficients = host_values(*make_field(two_threads, image, {}, {}, field_kind::tensor, true));

  const int nx = int(image.size[0]), ny = int(image.size[1]), nz = int(image.size[2]);
  const auto mirrored = [](int k, int n) { return k < 0 ? -k : k >= n ? 2 * n - 2 - k : k; };
  const double weight[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};  // the cubic B-spline at -1, 0, 1
  double largest = 0;
  for (const float c : coefficients) largest = std::max(largest, std::abs(double(c)));
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        for (int e = 0; e < 6; ++e) {
          double sum = 0;
          for (int c = -1; c <= 1; ++c)
            for (int b = -1; b <= 1; ++b)
              for (int a = -1; a <= 1; ++a) {
                const int j = (mirrored(z + c, nz) * ny + mirrored(y + b, ny)) * nx + mirrored(x + a, nx);
                sum += weight[a + 1] * weight[b + 1] * weight[c + 1] * coefficients[std::size_t(8 * j + e)];
              }
          ASSERT_NEAR(sum, samples[std::size_t(8 * ((z * ny + y) * nx + x) + e)], 4e-7 * largest);
        }
}

TEST(GeodesicFieldCpu, CoefficientsOfOneBrightVoxelFallByThePoleOfTheFilter) {
  tensor_image image = constant_image({41, 1, 1}, {1e-3f, 0, 0, 1e-3f, 0, 1e-3f});
  image.tensor[6 * 20] = 2e-3f;

  const auto f = make_field(two_threads, image, {}, {}, field_kind::world, true);

  const auto c = host_values(*f);
  const double pole = std::sqrt(3.0) - 2, unit = 1e-3 * f->scale;
  for (int k = 0; k < 41; ++k)
    EXPECT_NEAR(c[std::size_t(8 * k)] / unit, 1 + std::sqrt(3.0) * std::pow(pole, std::abs(k - 20)), 2e-6) << k;
}

TEST(GeodesicFieldCpu, CoefficientsOfShortLinesAreEquivalentToReference) {
  tensor_image image = constant_image({2, 3, 20}, white_matter);
  for (std::size_t i = 0; i < image.tensor.size(); i += 6) image.tensor[i] *= float(1 + 0.3 * std::sin(double(i * i)));
  for (const auto& size : {std::array<std::uint64_t, 3>{2, 3, 20}, {1, 120, 1}, {40, 1, 3}, {4, 5, 6}, {8, 15, 1}}) {
    image.size = size;
    const auto samples = host_values(*make_field(two_threads, image, {}, {}, field_kind::tensor, false));
    const auto coefficients = host_values(*make_field(two_threads, image, {}, {}, field_kind::tensor, true));

    const auto expected = reference::spline_coefficients(size, 8, {samples.begin(), samples.end()});
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(coefficients[i], expected[i], 2e-6) << i;
  }
}

TEST(GeodesicFieldCpu, ConstantTensorHasNoDerivatives) {
  tensor_image image = constant_image({9, 8, 7}, white_matter);
  for (std::size_t i = 0; i < image.inside.size(); i += 5) image.inside[i] = 0;  // filled with the same tensor

  for (const auto metric : {metric_kind::inverse, metric_kind::adjugate, metric_kind::power, metric_kind::jeong}) {
    const auto v = host_values(*make_field(two_threads, image, {}, with(metric, 2), field_kind::christoffel, false));
    for (std::size_t i = 0; i < image.inside.size(); ++i)
      for (std::size_t e = 6; e < 24; ++e) ASSERT_EQ(v[24 * i + e], 0);
  }
}

TEST(GeodesicFieldCpu, DerivativesOfAQuadraticMetricAreExactUpToTheFaces) {
  // Diagonal, 1 + 0.1 x + 0.02 x^2 and similar: the differences inside and at the faces are of second order.
  constexpr int n = 6;
  const auto metric = [](int axis, int p) { return 1 + 0.1 * p + 0.02 * (axis + 1) * p * p; };
  const auto slope = [](int axis, int p) { return 0.1 + 0.04 * (axis + 1) * p; };
  tensor_image image = constant_image({n, n, n}, {});
  for (int i = 0; i < n * n * n; ++i) {
    float* t = &image.tensor[std::size_t(6 * i)];
    t[0] = float(1 / metric(0, i % n)), t[3] = float(1 / metric(1, i / n % n)), t[5] = float(1 / metric(2, i / n / n));
  }

  const auto f = make_field(two_threads, image, {}, {}, field_kind::christoffel, false);

  const auto v = host_values(*f);
  for (int i = 0; i < n * n * n; ++i) {
    const int place[3] = {i % n, i / n % n, i / n / n}, diagonal[3] = {0, 3, 5};
    for (int k = 0; k < 3; ++k)
      for (int e = 0; e < 6; ++e) {
        const double expected = e == diagonal[k] ? slope(k, place[k]) : 0;
        ASSERT_NEAR(f->scale * v[std::size_t(24 * i + 6 + 6 * k + e)], expected, 2e-6) << i << ' ' << k << ' ' << e;
      }
  }
}

TEST(GeodesicFieldCpu, GivesTheSameBytesForAnyNumberOfThreads) {
  const tensor_image image = reference::uneven_tensors();
  const preparation how = with(metric_kind::jeong, 2, 0.7);
  for (const auto kind : {field_kind::tensor, field_kind::christoffel}) {
    const auto one = make_field({backend::cpu, 1, 0}, image, {}, how, kind, true);
    const auto three = make_field({backend::cpu, 3, 0}, image, {}, how, kind, true);
    EXPECT_EQ(host_values(*one), host_values(*three));
    const auto a = host_facts(*one), b = host_facts(*three);
    EXPECT_EQ(0, std::memcmp(a.data(), b.data(), a.size() * sizeof(voxel_facts)));
    EXPECT_EQ(one->repaired, three->repaired);
    EXPECT_EQ(one->scale, three->scale);
  }
}

TEST(GeodesicFieldCpu, CountsAndRaisesTensorsThatAreNotPositive) {
  tensor_image image = constant_image({5, 5, 5}, white_matter);
  const auto put = [&](std::size_t i, std::array<float, 6> t) { std::copy(t.begin(), t.end(), &image.tensor[6 * i]); };
  put(0, {2e-3f, 0, 0, -1e-3f, 0, 1e-3f});
  put(31, {2e-3f, 0, 0, 1e-6f, 0, 1e-3f});  // flat, but positive
  put(124, {NAN, 0, 0, 1e-3f, 0, 1e-3f});

  const auto f = make_field(two_threads, image, {}, with(metric_kind::inverse), field_kind::world, false);

  EXPECT_EQ(f->repaired, 2u);
  const auto v = host_values(*f);
  EXPECT_FLOAT_EQ(v[3], float(2e-5 * f->scale));
  EXPECT_FLOAT_EQ(v[8 * 31 + 3], float(2e-5 * f->scale));
  for (std::size_t e = 0; e < 6; ++e) EXPECT_FLOAT_EQ(v[8 * 124 + e], v[8 * 100 + e]);  // mean of its neighbours
  EXPECT_EQ(host_facts(*f)[124].regions, region::inside);
}

TEST(GeodesicFieldCpu, ValuesAreFiniteForAnyMeasurement) {
  tensor_image image = reference::uneven_tensors();
  for (std::size_t i = 0; i < image.tensor.size(); ++i) {
    if (i % 5 == 0) image.tensor[i] *= 1e30f;
    if (i % 7 == 0) image.tensor[i] *= 1e-35f;
  }
  tensor_image nothing = image;
  std::fill(nothing.inside.begin(), nothing.inside.end(), std::uint8_t{0});
  for (const auto* one : {&image, &nothing})
    for (const auto metric : {metric_kind::inverse, metric_kind::adjugate, metric_kind::power, metric_kind::jeong}) {
      const auto f = make_field(two_threads, *one, {}, with(metric, 8, 0.8), field_kind::christoffel, true);
      for (const float v : host_values(*f)) ASSERT_TRUE(std::isfinite(v));
      for (const auto& facts : host_facts(*f)) {
        ASSERT_TRUE(std::isfinite(facts.speed) && facts.speed > 0);
        ASSERT_TRUE(facts.FA >= 0 && facts.FA <= 1);
      }
    }
}

TEST(GeodesicFieldCpu, StoredTensorsAreThoseOfTheImageTimesAPowerOfTwo) {
  tensor_image image = constant_image({4, 4, 4}, white_matter);
  image.axes_mm = {2, 0, 0, 0, 2, 0, 0, 0, 2};
  const auto f = make_field(two_threads, image, {}, {}, field_kind::world, false);

  EXPECT_EQ(f->scale, 2048);  // 2^2 / 1.7e-3 = 2353
  const auto v = host_values(*f);
  for (std::size_t e = 0; e < 6; ++e) EXPECT_EQ(v[8 * 21 + e], 2048 * white_matter[e]);
}

TEST(GeodesicFieldCpu, OutsideVoxelsAreNeverMarkedInside) {
  tensor_image image = constant_image({3, 1, 1}, white_matter);
  image.inside = {1, 0, 1};
  const std::vector<std::uint32_t> words{region::inside | region::exclude, region::inside | region::first_include,
                                         5u << region::target_shift};

  const auto given = host_facts(*make_field(two_threads, image, words, {}, field_kind::tensor, false));
  const auto plain = host_facts(*make_field(two_threads, image, {}, {}, field_kind::tensor, false));

  EXPECT_EQ(given[0].regions, region::inside | region::exclude);
  EXPECT_EQ(given[1].regions, region::first_include);
  EXPECT_EQ(given[2].regions, 5u << region::target_shift);
  EXPECT_EQ(plain[0].regions, region::inside);
  EXPECT_EQ(plain[1].regions, 0u);
}

TEST(GeodesicFieldCpu, RejectsInvalidInputs) {
  const tensor_image good = constant_image({3, 3, 3}, white_matter);
  const auto refused = [](const tensor_image& image, const preparation& how, std::size_t words, field_kind kind) {
    const std::vector<std::uint32_t> regions(words);
    EXPECT_THROW(make_field(two_threads, image, regions, how, kind, false), std::invalid_argument);
  };
  tensor_image flat = good, fewer = good;
  flat.axes_mm = {1, 0, 1, 0, 1, 0, 1, 0, 1};
  fewer.tensor.pop_back();

  refused(flat, {}, 0, field_kind::tensor);
  refused(fewer, {}, 0, field_kind::tensor);
  refused(good, {}, 26, field_kind::tensor);
  refused(good, {}, 0, field_kind::quartic);
  refused(good, with(metric_kind::power, -1), 0, field_kind::tensor);
  refused(good, with(metric_kind::power, 1, 11), 0, field_kind::tensor);
  EXPECT_NO_THROW(make_field(two_threads, good, {}, {}, field_kind::tensor, false));
}

}  // namespace
