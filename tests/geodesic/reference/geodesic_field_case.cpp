#include "tests/geodesic/reference/geodesic_field_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace voxherd::reference {

using namespace tensor_field;

namespace {

constexpr double float_rounding = 0x1p-24;

std::array<float, 6> random_tensor(std::mt19937& draw) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  double axis[3][3];
  for (auto& a : axis)
    for (double& x : a) x = normal(draw);
  const auto dot = [&](int i, int j) {
    return axis[i][0] * axis[j][0] + axis[i][1] * axis[j][1] + axis[i][2] * axis[j][2];
  };
  for (int i = 0; i < 3; ++i) {  // Gram and Schmidt
    for (int j = 0; j < i; ++j) {
      const double along = dot(i, j);
      for (int k = 0; k < 3; ++k) axis[i][k] -= along * axis[j][k];
    }
    const double size = std::sqrt(dot(i, i));
    for (double& x : axis[i]) x /= size;
  }
  double t[6] = {};
  for (const auto& a : axis) {
    const double l = 0.1e-3 * std::pow(30, uniform(draw));
    t[0] += l * a[0] * a[0], t[1] += l * a[0] * a[1], t[2] += l * a[0] * a[2];
    t[3] += l * a[1] * a[1], t[4] += l * a[1] * a[2], t[5] += l * a[2] * a[2];
  }
  std::array<float, 6> f{};
  for (std::size_t e = 0; e < 6; ++e) f[e] = float(t[e]);
  return f;
}

/// Tensors as left by noise and artefacts.
std::array<float, 6> spoilt(std::array<float, 6> t, std::size_t kind) {
  switch (kind) {
    case 0:
      t[2] = std::numeric_limits<float>::quiet_NaN();
      return t;
    case 1:
      t[5] = std::numeric_limits<float>::infinity();
      return t;
    case 2:
      return {-1e-3f, 0, 0, -2e-3f, 1e-4f, -1e-3f};
    case 3:
      return {1e-3f, 2e-4f, 0, -3e-4f, 1e-4f, 5e-4f};
    case 4:
      return {};
    default:
      return {1.5e-3f, 3e-4f, 0, 1e-3f, 0, 2e-6f};  // smallest eigenvalue positive, but below a part in 100
  }
}

/// Largest error of the metric caused by one rounding of the tensors' eigenvalues, over the voxels used by a
/// derivative: the inverse multiplies it by the ratio of the eigenvalues.
double metric_error(const tensor_image& image, const geodesic_field& f, std::size_t i) {
  double largest = 0;
  std::size_t step = 1;
  for (const std::size_t n : image.size) {
    const std::size_t place = i / step % n;
    for (std::size_t p = place < 2 ? 0 : place - 2; p <= std::min(place + 2, n - 1); ++p) {
      const std::size_t j = i + p * step - place * step;
      largest = std::max(largest, f.condition[j] * f.metric[j]);
    }
    step *= n;
  }
  return largest;
}

}  // namespace

tensor_image uneven_tensors() {
  tensor_image image;
  image.size = {11, 12, 10};
  image.axes_mm = {1.9, -0.5, 0.3, 0.6, 2.1, 0.4, -0.2, -0.1, 3.1};
  image.origin_mm = {-40, 12, 7};
  std::mt19937 draw(20111);
  for (int z = 0; z < 10; ++z)
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 11; ++x) {
        const std::size_t i = image.inside.size();
        // The ball does not cover corners more than three voxels away.
        const bool in = std::hypot(x - 1, y - 2, z - 2) < 8 && i % 31 != 7;
        const auto t = i % 13 == 5 ? spoilt(random_tensor(draw), i / 13 % 6) : random_tensor(draw);
        image.inside.push_back(in ? 1 : 0);
        image.tensor.insert(image.tensor.end(), t.begin(), t.end());
      }
  return image;
}

std::vector<std::uint32_t> uneven_regions(std::size_t voxels) {
  std::vector<std::uint32_t> words(voxels);
  for (std::uint32_t i = 0; i < voxels; ++i) words[i] = (i % 5 ? region::inside : 0) | (i % 7 << region::target_shift);
  return words;
}

void expect_field_equivalent_to_reference(const device& d, const preparation& how, field_kind kind) {
  const tensor_image image = uneven_tensors();
  const auto words = uneven_regions(image.inside.size());
  const geodesic_field expected = prepare_geodesic_field(image, words, how, kind);

  use_device(d);
  const auto f = make_field(d, image, words, how, kind, false);

  const auto values = host_values(*f);
  const auto facts = host_facts(*f);
  EXPECT_EQ(f->repaired, expected.repaired);
  EXPECT_GT(f->repaired, 0u);
  EXPECT_EQ(f->scale, expected.scale);
  ASSERT_EQ(values.size(), expected.values.size());
  const std::size_t width = values.size() / facts.size();
  // Rounding errors, of the size of the largest eigenvalue, that affect a result: those of the eigenvalues and of the
  // recomposition, times the exponent; a logarithm (of numbers up to 5) and an exponential add their own.
  const bool powers = how.metric == metric_kind::power || how.metric == metric_kind::jeong;
  const double roundings = 12 * (powers ? how.alpha : 1) + (how.smoothing_voxels > 0 ? 30 : 0);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "voxel " << i);
    const double largest =
        std::max({expected.values[width * i], expected.values[width * i + 3], expected.values[width * i + 5]});
    EXPECT_NEAR(facts[i].FA, expected.FA[i], roundings * float_rounding);
    EXPECT_NEAR(facts[i].speed, expected.speed[i], roundings * float_rounding * expected.speed[i]);
    EXPECT_EQ(facts[i].regions, expected.regions[i]);
    const std::size_t tensor_elements = kind == field_kind::christoffel ? 6 : 8;
    for (std::size_t c = 0; c < tensor_elements; ++c)
      EXPECT_NEAR(values[width * i + c], expected.values[width * i + c], roundings * float_rounding * largest);
    if (kind == field_kind::christoffel) {
      const double tolerance = roundings * float_rounding * metric_error(image, expected, i);
      for (std::size_t c = 6; c < 24; ++c)
        EXPECT_NEAR(values[24 * i + c], expected.values[24 * i + c], tolerance) << "element " << c;
    }
    if (testing::Test::HasFailure()) return;
  }
}

void expect_coefficients_equivalent_to_reference(const device& d, field_kind kind) {
  const tensor_image image = uneven_tensors();
  use_device(d);
  const auto samples = host_values(*make_field(d, image, {}, {}, kind, false));

  const auto coefficients = host_values(*make_field(d, image, {}, {}, kind, true));

  const std::size_t width = samples.size() / image.inside.size();
  const auto expected = spline_coefficients(image.size, width, {samples.begin(), samples.end()});
  for (std::size_t c = 0; c < width; ++c) {
    double largest = 0;
    for (std::size_t i = c; i < expected.size(); i += width) largest = std::max(largest, std::abs(expected[i]));
    for (std::size_t i = c; i < expected.size(); i += width)
      ASSERT_NEAR(coefficients[i], expected[i], 16 * float_rounding * largest) << "element " << c;
  }
}

}  // namespace voxherd::reference
