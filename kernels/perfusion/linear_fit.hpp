#pragma once

#include "kernels/perfusion/fit_arrays.hpp"
#include "kernels/perfusion/linear_fitter.hpp"

namespace voxherd::perfusion {

/// Stores lane l's linear fit as the result of its voxel's only item.
template <class Number>
VOXHERD_FUNCTION inline void keep_linear_fit(const linear_fit<Number>& fit, int l, const fit_arrays& a,
                                             std::size_t voxel) {
  for (int i = 0; i < parameter_count; ++i) a.p[static_cast<std::size_t>(i) * a.count + voxel] = lane::get(fit.p[i], l);
  a.cost[voxel] = lane::get(fit.sum_of_squares, l);
  a.iterations[voxel] = 1;
  a.exit_code[voxel] =
      static_cast<std::uint8_t>(lane::get(fit.degenerate, l) ? fit_exit::degenerate : fit_exit::converged);
}

}  // namespace voxherd::perfusion
