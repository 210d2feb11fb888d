#include "tests/geodesic/reference/quartic_field_case.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/tensor_field/finsler4.hpp"
#include "tests/geodesic/reference/geodesic_field_case.hpp"
#include "tests/portable/reference/jacobi_eigen.hpp"

namespace voxherd::reference {

using namespace tensor_field;

namespace {

void tensor_norm(const double (&d)[6], double (&t)[quartic_size]) {
  double g[6];
  const int first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
  for (int p = 0; p < 6; ++p) {
    const double unit[3] = {first[p] == 0 ? 1. : 0., first[p] == 1 ? 1. : 0., first[p] == 2 ? 1. : 0.};
    double column[3];
    solve(d, unit, column);
    g[p] = column[second[p]];
  }
  quartic_of_metric(g, t);
}

/// Decreasing eigenvalues.
std::vector<double> eigenvalues(const float* d) {
  square_matrix m(3);
  const std::size_t first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {0, 1, 2, 1, 2, 2};
  for (std::size_t p = 0; p < 6; ++p)
    m(first[p], second[p]) = m(second[p], first[p]) = std::isfinite(d[p]) ? static_cast<double>(d[p]) : 0.0;
  return jacobi_eigen(m).values;
}

/// Eigenvalues large enough that none is raised.
bool is_plain(const float* d) {
  for (int p = 0; p < 6; ++p)
    if (!std::isfinite(d[p])) return false;
  const auto l = eigenvalues(d);
  return l[2] > 0.02 * l[0] && l[0] > 1e-6 && l[0] < 1;
}

}  // namespace

std::vector<float> norms_of_tensors(const tensor_image& image) {
  std::vector<float> norms;
  for (std::size_t i = 0; i < image.inside.size(); ++i) {
    const float* m = &image.tensor[6 * i];
    double t[quartic_size];
    const double d[6] = {m[0], m[1], m[2], m[3], m[4], m[5]};
    tensor_norm(d, t);
    for (const double c : t) norms.push_back(is_plain(m) ? static_cast<float>(c) : std::nanf(""));
  }
  return norms;
}

void expect_quartic_field_of_tensors_to_be_their_metric(const device& d, metric_kind metric) {
  const tensor_image image = uneven_tensors();
  const auto words = uneven_regions(image.inside.size());
  const preparation how{metric, 1, 0, 0.01};
  use_device(d);

  const auto f = make_quartic_field(d, image, norms_of_tensors(image), words, how, false);

  const auto tensors = make_field(d, image, words, how, field_kind::tensor, false);
  EXPECT_EQ(f->kind, field_kind::quartic);
  EXPECT_FALSE(f->spline);
  EXPECT_EQ(f->scale, tensors->scale);
  EXPECT_GE(f->repaired, tensors->repaired);
  const auto values = host_values(*f), metrics = host_values(*tensors);
  const auto facts = host_facts(*f), tensor_facts = host_facts(*tensors);
  ASSERT_EQ(values.size(), 16 * image.inside.size());
  std::size_t compared = 0;
  for (std::size_t i = 0; i < image.inside.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "voxel " << i);
    for (std::size_t n = 0; n < 16; ++n) ASSERT_TRUE(std::isfinite(values[16 * i + n]));
    EXPECT_EQ(values[16 * i + 15], 0);
    EXPECT_EQ(facts[i].FA, tensor_facts[i].FA);
    EXPECT_EQ(facts[i].regions, tensor_facts[i].regions);
    EXPECT_GT(facts[i].speed, 0);
    if (!image.inside[i] || !is_plain(&image.tensor[6 * i])) continue;
    ++compared;
    const float* m = &metrics[8 * i];
    const double stored[6] = {m[0], m[1], m[2], m[3], m[4], m[5]};
    double expected[quartic_size], largest = 0;
    tensor_norm(stored, expected);
    for (const double c : expected) largest = std::max(largest, std::fabs(c));
    // Float tensors of condition up to 50, inverted and squared.
    for (std::size_t n = 0; n < quartic_size; ++n) EXPECT_NEAR(values[16 * i + n], expected[n], 3e-5 * largest);
    EXPECT_NEAR(facts[i].speed / tensor_facts[i].speed, 1, 1e-4);  // found by a search
  }
  EXPECT_GT(compared, 20u);
}

void expect_quartic_coefficients_equivalent_to_reference(const device& d) {
  const tensor_image image = uneven_tensors();
  const auto norms = norms_of_tensors(image);
  use_device(d);

  const auto samples = host_values(*make_quartic_field(d, image, norms, {}, {}, false));
  const auto f = make_quartic_field(d, image, norms, {}, {}, true);

  EXPECT_TRUE(f->spline);
  const auto expected = spline_coefficients(image.size, 16, std::vector<double>(samples.begin(), samples.end()));
  const auto coefficients = host_values(*f);
  double largest = 0;
  for (const double c : expected) largest = std::max(largest, std::fabs(c));
  for (std::size_t k = 0; k < expected.size(); ++k) ASSERT_NEAR(coefficients[k], expected[k], 2e-6 * largest);
}

}  // namespace voxherd::reference
