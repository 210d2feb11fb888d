#pragma once

#include <fmt/core.h>

#include <numeric>

#include "core/failure.hpp"
#include "kernels/connect/solver.hpp"
#include "src/analyses/connect/fronts.hpp"

namespace voxherd {

/// Solves for the fronts [first, first + count), then calls use(first, count): once for all of them, or for halves if
/// they do not fit in device memory. Throws device_error, failure (internal_error): not converged.
template <class Use>
void solve_fronts(connect::solver& solver, const connect::start_list& all, std::size_t first, std::size_t count,
                  const Use& use) {
  try {
    std::vector<std::uint32_t> fronts(count);
    std::iota(fronts.begin(), fronts.end(), static_cast<std::uint32_t>(first));
    const connect::solve_report report = solver.solve(select_starts(all, fronts));
    if (!report.converged)
      throw failure(exit_status::internal_error, fmt::format("arrival times have not converged after {} rounds; give a "
                                                             "larger --tolerance",
                                                             report.rounds));
  } catch (const device_out_of_memory&) {
    if (count == 1) throw;
    solve_fronts(solver, all, first, count / 2, use);
    solve_fronts(solver, all, first + count / 2, count - count / 2, use);
    return;
  }
  use(first, count);
}

}  // namespace voxherd
