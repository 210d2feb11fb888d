#pragma once

#include "kernels/connect/block_graph.hpp"
#include "kernels/connect/solver.hpp"

namespace voxherd::connect {

/// What every backend solves with.
struct solver_parts {
  lattice where;
  block_graph graph;
  solver_settings settings;
  double axes_mm[9], origin_mm[3];
  float typical_cost;  ///< of one voxel's way: the median
};

/// Of the first order's solution second order takes only which neighbours come before: it need not be exact.
inline float tolerance_of(int order, const solver_settings& s) {
  constexpr float for_choices = 1e-4f;
  return order < s.order && s.tolerance < for_choices ? for_choices : s.tolerance;
}

/// Rounds after which a front that still moves is given up.
inline constexpr std::uint32_t most_rounds = 100000;

std::unique_ptr<solver> make_solver_cpu(const device& d, solver_parts&& parts);
std::unique_ptr<solver> make_solver_cuda(const device& d, solver_parts&& parts);

/// A start's cell. Throws std::invalid_argument for a voxel that is not inside, an arrival that is no time.
std::uint32_t checked_cell(const lattice& l, const start& s);

}  // namespace voxherd::connect
