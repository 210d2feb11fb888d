#pragma once

#include <gtest/gtest.h>

#include "kernels/perfusion/perfusion.hpp"
#include "tests/perfusion/reference/dual_maps.hpp"
#include "tests/perfusion/reference/perfusion_convolution.hpp"

/// The paper's fit with each convolution, on any device.
namespace voxherd::perfusion::convolutions {

struct fitted_maps {
  std::array<std::vector<float>, map_count> maps;
  std::vector<std::uint32_t> iterations;
  std::vector<std::uint8_t> exit_code, at_bound, status;
};

inline fit_settings papers_fit(convolution_kind convolution) {
  fit_settings s;
  s.solver = solver_kind::simplex;
  s.discretisation = discretisation_kind::paper;
  s.convolution = convolution;
  s.bounded = false;
  return s;
}

/// Rows of the paper's truth, then of truths around it, with noise of 1/50 of the peak in all but the first.
inline std::vector<float> noisy_rows(const time_course& t, std::size_t voxels) {
  std::mt19937_64 random(5601);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> around(0.7, 1.4);
  std::vector<float> rows;
  for (std::size_t v = 0; v < voxels; ++v) {
    double p[dual_parameters] = {400. / 6000, 20. / 6000, 100. / 6000, 1, 2};
    if (v > 0)
      for (double& x : p) x *= around(random);
    const auto c = paper_curve(t, p);
    const double noise = v > 0 ? *std::max_element(c.begin(), c.end()) / 50 : 0;
    for (const double value : c) rows.push_back(static_cast<float>(value + noise * normal(random)));
  }
  return rows;
}

inline fitted_maps run_fits(const device& d, const time_course& t, const fit_settings& s,
                            const std::vector<float>& rows) {
  const std::size_t voxels = rows.size() / t.frames();
  fitted_maps f;
  dual_outputs out;
  for (std::size_t m = 0; m < map_count; ++m) {
    f.maps[m].assign(voxels, NAN);
    out.array[m] = f.maps[m].data();
  }
  f.iterations.resize(voxels), f.exit_code.resize(voxels), f.at_bound.resize(voxels), f.status.resize(voxels);
  out.set<"iterations">(f.iterations.data());
  out.set<"exit_code">(f.exit_code.data());
  out.set<"at_bound">(f.at_bound.data());
  out.set<"status">(f.status.data());
  make_fitter(d, t, {}, s)->fit(voxels, rows.data(), out.array);
  return f;
}

inline bool diverges_early(const fitted_maps& found, const fitted_maps& expected, std::size_t v) {
  const float cost = expected.maps[sum_of_squares][v];
  return std::fabs(found.maps[sum_of_squares][v] - cost) > 1e-3f * cost;
}

/// Parameters agree to 1e-3, because rounding may change a step of the simplex, and costs to its tolerance.
/// `diverging`: the number of voxels that may take a different path, which rounding at a near tie causes in about one
/// of a hundred.
inline void expect_same_fits(const fitted_maps& found, const fitted_maps& expected, std::size_t diverging = 0) {
  ASSERT_EQ(found.status.size(), expected.status.size());
  for (std::size_t v = 0; v < found.status.size(); ++v) {
    if (diverging > 0 && diverges_early(found, expected, v)) {
      --diverging;
      continue;
    }
    ASSERT_EQ(found.status[v], 0) << "voxel " << v;
    EXPECT_EQ(found.exit_code[v], expected.exit_code[v]) << "voxel " << v;
    const auto near = [&](std::size_t m, double tolerance) {
      EXPECT_NEAR(found.maps[m][v], expected.maps[m][v], tolerance) << "map " << m << ", voxel " << v;
    };
    for (const std::size_t m : {map_kl, map_ka, map_kp, map_tau_a, map_tau_p})
      near(m, 1e-3 * std::fabs(static_cast<double>(expected.maps[m][v])));
    near(sum_of_squares, 1e-8 + 1e-6 * static_cast<double>(expected.maps[sum_of_squares][v]));
  }
}

}  // namespace voxherd::perfusion::convolutions
