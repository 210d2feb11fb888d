#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis.hpp"
#include "kernels/geodesic/ranking.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/geodesic/fibre_scores.hpp"
#include "src/analyses/geodesic/inputs.hpp"

namespace voxherd {

/// The label of each row and column of the matrices. One-way fibres from seeds outside all labels start at node 0,
/// with label 0.
struct connection_nodes {
  std::vector<std::int64_t> labels;  ///< labels of the nodes, increasing
  bool directed = false;             ///< from and to differ: fibres of one ray
  std::int32_t first_target = 0;     ///< number of node 0's target region: 0 or 1

  std::uint32_t pair_of(const scored_fibre& f) const;
  std::size_t pairs() const { return labels.size() * labels.size(); }
};

/// Nodes of the run's targets; a single unnamed node if there are no targets. Throws failure (usage) if there are too
/// many for matrices.
connection_nodes make_nodes(const geodesic_inputs& inputs);

struct connections {
  std::vector<scored_fibre> winners;  ///< best paths by pair, best measure first
  std::vector<constant> matrices;     ///< group "connectome"; none without targets
  std::uint64_t candidates = 0;
};

/// Ranks the accepted fibres of all ranks, computes the matrices, and selects the fibres to write: distinct routes, the
/// best `top` of each pair. Each rank ranks the fibres of some pairs on its device and integrates them again there to
/// compare their shapes. Collective; the result is the same on every rank.
connections rank_connections(const session& s, const geodesic_inputs& inputs, const tensor_field::field& field,
                             std::vector<scored_fibre> own_accepted);

}  // namespace voxherd
