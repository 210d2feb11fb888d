#pragma once

#include <vector>

#include "mpi/comm/session.hpp"
#include "src/tools/bids/request.hpp"
#include "src/tools/bids/series.hpp"

namespace voxherd {

/// Computes all series on all ranks, one after another, and writes their derivatives. A series that fails does not stop
/// the others. Collective. Throws failure with the first failed series' status if any has failed.
exit_status run_participants(session& s, const bids_request& request, std::vector<bids_series> all);

}  // namespace voxherd
