#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/connect/arrivals.hpp"
#include "src/analyses/connect/components.hpp"

namespace voxherd {

/// Voxels on near-optimal paths between two regions at one epsilon: those parts of the voxels whose total is at most
/// 1 + epsilon times the joining total that touch both regions (26 neighbours, because least-cost paths can be
/// diagonal). The joining total is the smallest at which such a part exists: the least total if the solution were
/// exact, above it by the numerical error otherwise. Relative to the least total, a small epsilon would give no voxels.
struct pathway_extent {
  double epsilon = 0;
  std::uint64_t voxels = 0;
  double mean_FA = 0, min_FA = 0;  ///< NaN where there are no voxels
};

/// The first three would be equal if the solution were exact.
struct pathway_cost {
  float min_total = 0;        ///< min of u1 + u2
  float from_at_to = 0;       ///< min of u1 in the region `to`
  float to_at_from = 0;       ///< min of u2 in the region `from`
  double joining_excess = 0;  ///< of the joining total
  double gap() const;         ///< largest relative difference between them
};

struct pathway {
  std::vector<float> from, to, total, excess;  ///< of each voxel
  std::vector<std::uint8_t> inside;            ///< 1 on the pathway
  pathway_cost cost;
  std::vector<pathway_extent> curve;
  pathway_extent chosen;
};

/// `regions`: the two ends' voxels. Throws failure (bad_data): no path joins the ends.
pathway find_pathway(std::vector<float> from, std::vector<float> to, const region_table& table,
                     const connect::region_list& regions, const voxel_neighbours& space, const std::vector<float>& FA,
                     double epsilon);

std::vector<known_output> make_maps(const pathway& p, const std::string& unit);
std::vector<constant> make_constants(const pathway& p, const region_table& table, const std::string& unit,
                                     double voxel_mm3);
/// Logs a short table.
void log_pathway(const pathway& p, const region_table& table, const std::string& unit, double voxel_mm3);

}  // namespace voxherd
