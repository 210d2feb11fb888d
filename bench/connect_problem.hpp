#pragma once

#include <memory>
#include <string>

#include "bench/program.hpp"
#include "kernels/connect/settings.hpp"

namespace voxherd::bench {

/// What a run of the problem does, and so what is timed.
enum class connect_part {
  solve,         ///< for all fronts of the volume at once; starts from host memory, results stay on the device
  set_up,        ///< make_solver, from tensors in host memory
  region_costs,  ///< of all fronts in all regions, to host memory; a brain's
  paths,         ///< one back from every region to every other one, scored; a brain's
};

struct connect_run {
  std::string volume;  ///< connect_volume_named()'s
  connect::solver_settings settings;
  connect_part part = connect_part::solve;
};

/// Verified by closed forms where there are some: the error must not be above the scheme's known one. On a helix: by
/// arrival times along it. In a brain: every voxel is reached; selling in first order solves its equation, as
/// tests/reference writes it, in every 61st voxel; other schemes agree with it as far as schemes do; a GPU agrees with
/// the CPU; the first and the last of several fronts are as if solved alone.
std::unique_ptr<problem> make_eikonal_problem(const device& d, const connect_run& how);

/// Its parts region_costs and paths. Costs: against plain loops; paths: they end in their sources, and cost about what
/// the arrival times say.
std::unique_ptr<problem> make_connectome_problem(const device& d, const connect_run& how);

}  // namespace voxherd::bench
