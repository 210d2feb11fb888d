#pragma once

#include <vector>

#include "mpi/comm/session.hpp"
#include "src/batch/bids/request.hpp"
#include "src/batch/bids/series.hpp"

namespace voxherd {

/// Writes the derivatives of a complete step; files that are newer than the result are kept. Collective. Throws
/// failure.
void write_derivatives(session& s, const bids_request& request, const bids_series& series, const bids_step& step);

/// Writes logs/CITATION.md: methods and references of all complete results, each text once. For rank 0.
void write_citation(const bids_request& request, const std::vector<bids_series>& all);

/// Computes all series on all ranks, one after another, and writes their derivatives. A series that fails does not stop
/// the others. Collective. Throws failure with the first failed series' status if any has failed.
exit_status run_participants(session& s, const bids_request& request, std::vector<bids_series> all);

}  // namespace voxherd
