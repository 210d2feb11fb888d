#pragma once

#include "kernels/connect/block_graph.hpp"
#include "kernels/connect/solver.hpp"

namespace voxherd::connect {

/// Inputs common to all backends.
struct solver_parts {
  lattice where;
  block_graph graph;
  solver_settings settings;
  double axes_mm[9], origin_mm[3];
  float typical_cost;  ///< median cost of one voxel
};

/// Second order only takes the order of neighbours from the first-order solution, which therefore need not be exact.
inline float solve_tolerance(int order, const solver_settings& s) {
  constexpr float for_choices = 1e-4f;
  return order < s.order && s.tolerance < for_choices ? for_choices : s.tolerance;
}

/// Rounds after which a front that still changes is stopped.
inline constexpr std::uint32_t max_rounds = 100000;

std::unique_ptr<solver> make_solver_cpu(const device& d, solver_parts&& parts);
std::unique_ptr<solver> make_solver_cuda(const device& d, solver_parts&& parts);

/// The cell of a start. Throws std::invalid_argument for a voxel outside the mask or an invalid arrival time.
std::uint32_t checked_cell(const lattice& l, const start& s);

}  // namespace voxherd::connect
