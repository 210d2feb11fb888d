#pragma once

#include <numeric>

#include "kernels/eikonal/solver.hpp"
#include "src/connect/fronts.hpp"

namespace voxherd {

/// Solves for the fronts [first, first + count) and calls use(first, count) when those have been: once for all, or for
/// halves of them where the device has no room. Throws device_error.
template <class Use>
void solve_fronts(eikonal::solver& solver, const eikonal::start_list& all, std::size_t first, std::size_t count,
                  const Use& use) {
  try {
    std::vector<std::uint32_t> fronts(count);
    std::iota(fronts.begin(), fronts.end(), static_cast<std::uint32_t>(first));
    solver.solve(starts_of(all, fronts));
  } catch (const device_out_of_memory&) {
    if (count == 1) throw;
    solve_fronts(solver, all, first, count / 2, use);
    solve_fronts(solver, all, first + count / 2, count - count / 2, use);
    return;
  }
  use(first, count);
}

}  // namespace voxherd
