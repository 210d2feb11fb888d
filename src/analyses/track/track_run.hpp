#pragma once

#include <functional>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/analyses/track/matrix.hpp"
#include "src/analyses/track/pair_matrix.hpp"
#include "src/analyses/track/read_inputs.hpp"

namespace voxherd {

/// The matrices of a run.
struct track_matrices {
  std::vector<seed_matrix> rows;
  std::vector<pair_matrix> pairs;
};

/// What another command asks for beyond the options of `voxherd track`.
struct track_extension {
  seed_list seeds;
  /// Adds matrices to those of the options. Collective. Throws failure.
  std::function<void(const session& s, const track_inputs& in, track_matrices& matrices)> add_matrices;
};

/// Runs `voxherd track`. Collective.
exit_status run_track_with(session& s, const track_request& request, const track_extension& more);

}  // namespace voxherd
