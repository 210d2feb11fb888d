#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpi/run/steps.hpp"
#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/sums.hpp"

namespace voxherd {

/// Accepted streamlines whose points are written.
struct kept_streamlines {
  std::vector<std::uint64_t> numbers;  ///< increasing
  std::vector<std::uint64_t> offsets;  ///< offsets of their points
};

/// Up to in.max_kept accepted streamlines at even distances in their order, which does not depend on groups and ranks.
/// `own`: the bits of the groups that this rank received. Collective; the same on every rank.
std::vector<std::uint64_t> choose_streamlines(const session& s, const std::vector<group_bits>& own,
                                              const track_inputs& in);

/// Adds the steps that draw the kept streamlines again, in host memory: how many points each has, and what they are.
/// They are written to `file`.
void add_streamline_steps(const session& s, const std::string& file, const std::shared_ptr<kept_streamlines>& kept,
                          const track_inputs& in, const device& d, step_list& steps);

}  // namespace voxherd
