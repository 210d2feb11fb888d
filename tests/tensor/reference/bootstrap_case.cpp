#include "tests/tensor/reference/bootstrap_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "kernels/tensor/tensor_fitter.hpp"
#include "tests/tensor/reference/tensor_case.hpp"

namespace voxherd::reference {

namespace {

constexpr std::uint64_t bootstrap_seed = 0x123456789abcdefu;

struct replicate_of_all {
  replicate_of_all(tensor_bootstrap& bootstrap, std::uint64_t replicate)
      : tensor(6 * bootstrap.voxels(), -1.f), status(bootstrap.voxels(), 255) {
    bootstrap.fit(replicate, tensor.data(), status.data());
  }
  std::vector<float> tensor;
  std::vector<std::uint8_t> status;
};

/// 3, 10, 17, ...: image indices, as in a mask.
std::vector<std::uint64_t> some_voxels(std::size_t count) {
  std::vector<std::uint64_t> voxels;
  for (std::size_t i = 0; i < count; ++i) voxels.push_back(7 * i + 3);
  return voxels;
}

double FA_of(const float* t) {
  const auto e = symmetric_eigen3<double>(t[0], t[1], t[2], t[3], t[4], t[5]);
  return fractional_anisotropy(e.value);
}

/// Quantities compared between replicates and repeated noise: six elements in um2/ms, and FA.
std::array<double, 7> quantities(const float* tensor) {
  std::array<double, 7> q{};
  for (std::size_t c = 0; c < 6; ++c) q[c] = 1e3 * static_cast<double>(tensor[c]);
  q[6] = FA_of(tensor);
  return q;
}

double variance(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double sum = 0;
  for (const double x : values) sum += (x - mean) * (x - mean);
  return sum / (n - 1);
}

}  // namespace

void expect_replicates_equivalent_to_reference(const device& d, const tensor_settings& settings) {
  constexpr std::size_t count = 101;
  const gradient_table g = two_shells();
  const auto rows = uneven_voxels(g, count, settings.gradient_deviation);
  const auto voxels = some_voxels(count);
  const std::size_t width = rows.size() / count;
  const bootstrap_settings how{settings, bootstrap_seed};

  use_device(d);
  const auto bootstrap = make_tensor_bootstrap(d, g, how, voxels, rows);

  int fitted = 0;
  for (const std::uint64_t replicate : {0u, 1u, 2u, 4000000000u}) {
    const replicate_of_all found(*bootstrap, replicate);
    for (std::size_t i = 0; i < count; ++i) {
      SCOPED_TRACE(testing::Message() << "voxel " << i << ", replicate " << replicate);
      const tensor_voxel expected =
          refit_tensor(g, std::span(rows).subspan(i * width, width), how, voxels[i], replicate);
      ASSERT_EQ(found.status[i], static_cast<std::uint8_t>(expected.status));
      const double size = std::max(std::fabs(expected.eigenvalues[0]), std::fabs(expected.eigenvalues[2]));
      for (std::size_t c = 0; c < 6; ++c) ASSERT_NEAR(found.tensor[6 * i + c], expected.tensor[c], 1e-6 * size);
      fitted += expected.status == voxel_status::fitted;
    }
  }
  EXPECT_GT(fitted, 200);
}

void expect_replicates_independent_of_company(const device& d) {
  constexpr std::size_t count = 77, first = 13, part = 30;
  const gradient_table g = two_shells();
  const auto rows = uneven_voxels(g, count, false);
  const auto voxels = some_voxels(count);
  const bootstrap_settings how{{}, bootstrap_seed};
  use_device(d);
  const auto all = make_tensor_bootstrap(d, g, how, voxels, rows);
  const auto some = make_tensor_bootstrap(d, g, how, std::span(voxels).subspan(first, part),
                                          std::span(rows).subspan(first * g.size(), part * g.size()));

  const replicate_of_all other(*some, 8), of_some(*some, 5), of_all(*all, 5);

  EXPECT_NE(other.tensor, of_some.tensor);
  const auto status = of_all.status.begin() + first;
  EXPECT_EQ(of_some.status, std::vector<std::uint8_t>(status, status + part));
  const auto tensor = of_all.tensor.begin() + 6 * first;
  EXPECT_EQ(of_some.tensor, std::vector<float>(tensor, tensor + 6 * part));
}

void expect_spread_of_repeated_noise(const device& d, const tensor_settings& settings) {
  constexpr std::size_t count = 2000;
  constexpr std::uint64_t replicates = 60;
  gradient_table g = two_shells();  // b = 2500 leaves no signal above the noise along the fibre: only b = 1000 is used
  for (auto* column : {&g.x, &g.y, &g.z, &g.b_s_per_mm2}) column->resize(24);
  const std::array<double, 6> truth{1.3e-3, 2e-4, -1e-4, 6e-4, 5e-5, 4e-4};
  std::mt19937 draw(5);
  std::normal_distribution<double> normal;
  std::vector<float> rows;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < g.size(); ++k)
      rows.push_back(static_cast<float>(tensor_signal(g, k, truth, 1000, {}) + 40 * normal(draw)));

  use_device(d);
  const auto bootstrap = make_tensor_bootstrap(d, g, {settings, bootstrap_seed}, some_voxels(count), rows);
  const replicate_of_all data(*bootstrap, 0);
  std::vector<replicate_of_all> resampled;
  for (std::uint64_t r = 1; r <= replicates; ++r) resampled.emplace_back(*bootstrap, r);

  for (std::size_t c = 0; c < 7; ++c) {
    SCOPED_TRACE(testing::Message() << "quantity " << c);
    std::vector<double> repeated, of_voxels;
    for (std::size_t i = 0; i < count; ++i) {
      repeated.push_back(quantities(data.tensor.data() + 6 * i)[c]);
      std::vector<double> values;
      for (const auto& r : resampled) values.push_back(quantities(r.tensor.data() + 6 * i)[c]);
      of_voxels.push_back(variance(values));
    }
    const double expected = variance(repeated);
    const double found = std::accumulate(of_voxels.begin(), of_voxels.end(), 0.0) / count;
    // Relative variances of the two estimates: 2 / (n - 1) for normal noise, and that of a mean.
    const double error = std::sqrt(2.0 / (count - 1) + variance(of_voxels) / count / (expected * expected));
    EXPECT_NEAR(found / expected, 1, 3 * error) << "error " << error;
    EXPECT_LT(error, 0.04);
  }
}

}  // namespace voxherd::reference
