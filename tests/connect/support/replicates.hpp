#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/connect/solver.hpp"
#include "kernels/tensor/bootstrap.hpp"
#include "kernels/tensor/bootstrap_fitter.hpp"
#include "kernels/tensor_field/field.hpp"

/// Bootstrap replicates that stay in the memory of a device.
namespace voxherd::reference {

/// A ragged mask of noisy voxels with one tensor each, in an image with holes and an island.
struct replicate_case {
  gradient_table gradients;
  tensor_field::tensor_image image;  ///< with the data's fits
  std::vector<std::uint64_t> voxels;
  std::vector<float> rows;
  std::array<double, 9> frame{0, -1, 0, 1, 0, 0, 0, 0, 1};

  explicit replicate_case(const device& d) {
    std::mt19937 draw(11);
    std::normal_distribution<float> normal;
    for (int k = 0; k < 36; ++k) {
      const float x = normal(draw), y = normal(draw), z = normal(draw), length = std::sqrt(x * x + y * y + z * z);
      gradients.x.push_back(x / length), gradients.y.push_back(y / length), gradients.z.push_back(z / length);
      gradients.b_s_per_mm2.push_back(k < 4 ? 0.f : 1000.f);
    }
    image.size = {21, 18, 14};
    image.axes_mm = {2, 0, 0, 0, 2.5, 0, 0, 0, 3};
    image.inside.assign(21 * 18 * 14, 0);
    image.tensor.assign(6 * image.inside.size(), 0);
    for (std::uint64_t v = 0; v < image.inside.size(); ++v) {
      const std::uint64_t x = v % 21, y = v / 21 % 18, z = v / 21 / 18;
      const bool hole = x > 5 && x < 9 && y > 3 && y < 12 && z > 2, gap = x == 15 || x == 16,
                 edge = (x * y + z) % 17 == 0;
      if (!hole && !gap && !edge) add_voxel(v, x, y, z, draw, normal);
    }
    use_device(d);
    const auto fits = bootstrap(d);
    std::vector<float> tensor(6 * voxels.size());
    std::vector<std::uint8_t> status(voxels.size());
    fits->fit(0, tensor.data(), status.data());
    place(tensor, status, image.tensor);
  }

  std::unique_ptr<tensor_bootstrap> bootstrap(const device& d) const {
    return make_tensor_bootstrap(d, gradients, {}, voxels, rows);
  }

  std::vector<std::uint32_t> places() const { return {voxels.begin(), voxels.end()}; }

  /// Returns how many voxels keep their tensor.
  std::uint64_t place(const std::vector<float>& tensor, const std::vector<std::uint8_t>& status,
                      std::vector<float>& to) const {
    double f[9];
    std::copy(frame.begin(), frame.end(), f);
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < voxels.size(); ++i)
      kept += place_tensor(f, &tensor[6 * i], status[i], &to[6 * voxels[i]]) ? 0 : 1;
    return kept;
  }

  connect::speed_field field(std::span<const float> tensors) const {
    return {image.size, image.axes_mm, image.origin_mm, tensors, image.inside};
  }

 private:
  void add_voxel(std::uint64_t v, std::uint64_t x, std::uint64_t y, std::uint64_t z, std::mt19937& draw,
                 std::normal_distribution<float>& normal) {
    const float angle = 0.3f * static_cast<float>(x) + 0.2f * static_cast<float>(y) - 0.1f * static_cast<float>(z);
    const float fibre[3] = {std::cos(angle), std::sin(angle), 0.2f};
    const bool lost = v % 97 == 5;  // nothing to fit
    voxels.push_back(v);
    image.inside[v] = 1;
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      const auto g = [&](const auto& column) { return static_cast<float>(column[k]); };
      const float along = fibre[0] * g(gradients.x) + fibre[1] * g(gradients.y) + fibre[2] * g(gradients.z);
      const float signal = 1000 * std::exp(-g(gradients.b_s_per_mm2) * (2e-4f + 1.5e-3f * along * along));
      rows.push_back(lost ? 0 : std::abs(signal + 30 * normal(draw)));
    }
  }
};

/// The replicates' arrival times are those of the same tensors placed, prepared and solved one after another through
/// the host's memory, whatever came before.
inline void expect_replicates_like_through_the_host(const device& d, const connect::solver_settings& settings) {
  const replicate_case c(d);
  const tensor_field::preparation how{tensor_field::metric_kind::inverse, 1, 0, 1 / 30.0};
  const connect::start_list fronts{{0, 1, 4}, {{0, 0}, {900, 0}, {901, 0}, {1500, 0.5f}}};

  const auto fits = c.bootstrap(d);
  const std::vector<std::uint32_t> places = c.places();
  fits->set_image({c.image.tensor, places, c.frame});
  const auto maker = tensor_field::make_field_maker(d, c.image, how);
  const auto solver = connect::make_solver(d, c.field({}), settings);
  EXPECT_THROW(solver->solve(fronts), std::logic_error);

  for (const std::uint64_t replicate : {3u, 1u, 2u}) {
    SCOPED_TRACE(testing::Message() << "replicate " << replicate);
    const std::uint64_t kept = fits->fit_image(replicate, maker->tensors());
    const tensor_field::field& field = maker->make();
    solver->set_speeds(field.view().values);
    ASSERT_TRUE(solver->solve(fronts).converged);
    std::vector<float> found(2 * solver->voxels());
    solver->arrivals(0, 2, found.data());

    std::vector<float> tensor(6 * c.voxels.size());
    std::vector<std::uint8_t> status(c.voxels.size());
    fits->fit(replicate, tensor.data(), status.data());
    tensor_field::tensor_image placed = c.image;
    EXPECT_EQ(kept, c.place(tensor, status, placed.tensor));
    EXPECT_GT(kept, 10u);
    const auto prepared = tensor_field::make_field(d, placed, {}, how, tensor_field::field_kind::tensor, false);
    EXPECT_EQ(field.scale, prepared->scale);
    EXPECT_EQ(field.repaired, prepared->repaired);
    const std::vector<float> values = host_values(*prepared);
    const auto other = connect::make_solver(d, c.field(values), settings);
    ASSERT_TRUE(other->solve(fronts).converged);
    std::vector<float> expected(found.size());
    other->arrivals(0, 2, expected.data());
    const auto six = host_tensor(field, c.voxels[40]);
    for (std::size_t e = 0; e < 6; ++e) EXPECT_NEAR(six[e], values[8 * c.voxels[40] + e], 1e-5f) << e;

    // A tensor rounds differently in its last bit where the compilers of host and device merge other operations.
    std::size_t reached = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(std::isinf(found[i]), std::isinf(expected[i])) << i;
      if (std::isinf(found[i])) continue;
      ++reached;
      ASSERT_NEAR(found[i], expected[i], 1e-4f * (1 + expected[i])) << i;
    }
    EXPECT_GT(reached, 2000u);
  }
}

}  // namespace voxherd::reference
