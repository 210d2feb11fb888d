#pragma once

#include "kernels/portable/cholesky.hpp"
#include "kernels/portable/double_math.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "kernels/voxel_model/minimiser.hpp"
#include "kernels/voxel_model/normal_equations.hpp"

namespace voxherd::voxel_model {

/// Before their logarithm is taken, signals are raised to at least this fraction of their mean.
constexpr double floor_of_mean = 0.01;

/// S0 (in units of the scaled signal), largest diffusivity and principal axes.
struct tensor_start {
  double s0, d;
  double axis[4][3];
};

/// Log-linear least squares for the diffusion tensor; a fourth axis is between the other three.
template <class Team, class Measurements, class Scratch>
VOXHERD_FUNCTION inline tensor_start start_from_tensor(const Team& team, const Measurements& m, double signal_scale,
                                                       Scratch& s) {
  using real = typename Team::real;
  typename gram_of<Team, tensor_row>::type gram(team, s.rows);
  gram.clear();
  for (int slot = 0; slot < m.slots(); ++slot) {
    real q[3], signal, w;
    m.load(slot, q, signal, w);
    const real logarithm = lane::log(lane::max(signal * real(1 / signal_scale), real(floor_of_mean)));
    const real row[tensor_row] = {-q[0] * q[0],
                                  real(-2.0) * q[0] * q[1],
                                  real(-2.0) * q[0] * q[2],
                                  -q[1] * q[1],
                                  real(-2.0) * q[1] * q[2],
                                  -q[2] * q[2],
                                  w,
                                  logarithm * w};
    gram.add(row);
  }
  gram.finish(team, s.normal[0]);
  constexpr int n = tensor_row - 1;
  const double* normal = s.normal[0];
  const auto matrix = [&](int i, int j) {
    return i == j ? normal[packed_index(i, i)] * (1 + 1e-10) : normal[i > j ? packed_index(i, j) : packed_index(j, i)];
  };
  const auto right = [&](int i) { return normal[packed_index(n, i)]; };
  const bool solved = solver_of<Team, n>::solve(team, s.system, matrix, right, s.step);
  tensor_start start{2, 1, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.577, 0.577, 0.577}}};
  if (solved) {
    const double* x = s.step;
    const eigen_system3<double> e = symmetric_eigen3(x[0], x[1], x[2], x[3], x[4], x[5]);
    start.s0 = lane::min(lane::max(std::exp(lane::min(x[6], 5.0)), 1.0), 20.0);
    start.d = lane::min(lane::max(2 * (e.value[0] + e.value[1] + e.value[2]) / 3, 0.1), 4.0);
    for (int axis = 0; axis < 3; ++axis) {
      for (int k = 0; k < 3; ++k) start.axis[k][axis] = e.vector[k][axis];
      start.axis[3][axis] = 0.577 * (e.vector[0][axis] + e.vector[1][axis] + e.vector[2][axis]);
    }
  }
  team.sync();
  return start;
}

}  // namespace voxherd::voxel_model
