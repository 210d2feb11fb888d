#pragma once

#include <memory>
#include <string>

#include "bench/program.hpp"
#include "kernels/connect/solver.hpp"

namespace voxherd::bench {

/// The timed part of the problem.
enum class connect_part {
  solve,         ///< for all fronts of the volume at once; starts from host memory, results stay on the device
  set_up,        ///< make_solver, from tensors in host memory
  region_costs,  ///< costs of all fronts in all regions, to host memory; a brain's
  paths,         ///< one back from every region to every other one, scored; a brain's
};

struct connect_run {
  std::string volume;  ///< connect_volume_named()'s
  connect::solver_settings settings;
  connect_part part = connect_part::solve;
};

/// Verified by closed forms if there are any: the error must not exceed the scheme's known one. On a helix: by arrival
/// times along it. In a brain: every voxel is reached; selling in first order satisfies its equation, as implemented in
/// tests/connect/reference, in every 61st voxel; other schemes agree with it within their differences; a GPU agrees
/// with the CPU; the first and the last of several fronts are the same as when solved separately.
std::unique_ptr<problem> make_connect_problem(const device& d, const connect_run& how);

/// The parts region_costs and paths. Costs are compared with plain loops; paths must end in their sources and cost
/// about their arrival times.
std::unique_ptr<problem> make_connectome_problem(const device& d, const connect_run& how);

}  // namespace voxherd::bench
