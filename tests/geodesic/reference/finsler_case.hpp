#pragma once

#include <array>
#include <vector>

#include "kernels/tensor/quartic_estimator.hpp"

namespace voxherd::reference {

/// Output arrays of a batch.
struct quartic_results {
  explicit quartic_results(std::size_t count);
  quartic_solver::outputs places();
  /// F^4 of voxel i at the unit vector along v.
  double F4(std::size_t i, const std::array<double, 3>& v) const;

  std::vector<float> tensor, quartic, mixed;
  std::vector<std::uint8_t> status;
};

/// `repeats` volumes at b = 0, then `directions` even ones (Fibonacci) at b.
gradient_table one_shell(int repeats, int directions, double b_s_per_mm2);

/// Unit vector, and the diffusivities along it and across, mm2/s.
struct stick {
  std::array<double, 3> axis;
  double along = 1.7e-3, across = 0.3e-3;
};

/// Signals of sticks with equal fractions, S0 = 1000, with Rician noise of deviation `noise` drawn by `seed`.
std::vector<float> make_signals(const gradient_table& g, const std::vector<stick>& sticks, double noise = 0,
                                unsigned seed = 0);

/// Voxels of S0 = 1000, most of them noisy, with one to three sticks in any direction; some cannot be fitted.
std::vector<float> uneven_crossings(const gradient_table& g, std::size_t count, double noise = 50);

quartic_results fitted(const device& d, const gradient_table& g, const std::vector<float>& rows,
                       const quartic_settings& settings = {});

/// Test bodies for every backend.
void expect_norms_equivalent_to_reference(const device& d);

}  // namespace voxherd::reference
