#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/analysis.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/connect/arrivals.hpp"

namespace voxherd {

/// Disjoint sets of numbered elements (union-find).
class disjoint_sets {
 public:
  explicit disjoint_sets(std::size_t count);
  std::uint32_t root(std::uint32_t of);
  /// Merges two sets; returns their common root, the smaller of the two roots.
  std::uint32_t join(std::uint32_t a, std::uint32_t b);

 private:
  std::vector<std::uint32_t> parent_;
};

/// Which voxels of a masked image touch each other.
class voxel_neighbours {
 public:
  /// `voxels`: linear indices, increasing.
  voxel_neighbours(const std::array<std::uint64_t, 3>& size, const std::vector<std::uint64_t>& voxels);

  /// Calls `visit(number)` for each of the voxel's neighbours in the mask: 6 that share a face, or 26 that share a
  /// corner.
  template <class Visit>
  void each(std::uint32_t number, int neighbours, const Visit& visit) const {
    const std::array<std::int64_t, 3> at = place(number);
    for (std::int64_t z = -1; z <= 1; ++z)
      for (std::int64_t y = -1; y <= 1; ++y)
        for (std::int64_t x = -1; x <= 1; ++x) {
          const std::int64_t steps = x * x + y * y + z * z;
          if (steps == 0 || (neighbours == 6 && steps > 1)) continue;
          const std::int32_t other = number_at(at[0] + x, at[1] + y, at[2] + z);
          if (other >= 0) visit(static_cast<std::uint32_t>(other));
        }
  }

 private:
  std::array<std::int64_t, 3> place(std::uint32_t number) const;
  std::int32_t number_at(std::int64_t x, std::int64_t y, std::int64_t z) const;

  std::array<std::int64_t, 3> size_;
  const std::vector<std::uint64_t>& voxels_;
  std::vector<std::int32_t> number_of_;  ///< (nz, ny, nx); -1 outside
};

/// Voxels that a front did not reach, by island: parts of the mask that share no face with each other.
struct unreached_voxels {
  std::uint64_t voxels = 0;
  std::uint64_t islands = 0;         ///< parts of the mask without any reached voxel
  std::uint64_t largest_island = 0;  ///< its voxels
  std::uint64_t elsewhere = 0;       ///< unreached voxels in parts that were reached
};

/// The part of the mask that each voxel belongs to, as the number of its first voxel.
std::vector<std::uint32_t> islands_of(const voxel_neighbours& space, std::size_t voxels);

unreached_voxels count_unreached(const std::vector<std::uint32_t>& island, const std::vector<float>& arrival);

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
  double joining_excess = 0;  ///< excess of the joining total
  double gap() const;         ///< largest relative difference between them
};

struct pathway {
  std::vector<float> from, to, total, excess;  ///< one value per voxel
  std::vector<std::uint8_t> inside;            ///< 1 on the pathway
  pathway_cost cost;
  std::vector<pathway_extent> curve;
  pathway_extent chosen;
};

/// `regions`: the two ends' voxels. Throws failure (bad_data): no path joins the ends.
pathway find_pathway(std::vector<float> from, std::vector<float> to, const region_table& table,
                     const connect::region_list& regions, const voxel_neighbours& space, const std::vector<float>& FA,
                     double epsilon);

/// Its voxels in the image. `voxels`: linear indices of all voxels where fronts may pass.
std::vector<std::uint64_t> voxels_of(const pathway& p, const std::vector<std::uint64_t>& voxels);

std::vector<known_output> make_maps(const pathway& p, const std::string& unit);
std::vector<constant> make_constants(const pathway& p, const region_table& table, const std::string& unit,
                                     double voxel_mm3);
/// Logs a short table.
void log_pathway(const pathway& p, const region_table& table, const std::string& unit, double voxel_mm3);

/// For each voxel the smallest limit of the excess at which it is in the pathway: in a part of the voxels up to that
/// excess that touches both regions; infinite for none. So `level[v] <= (1 + epsilon) * (1 + joining_excess) - 1` is
/// find_pathway()'s `inside` for every epsilon up to `largest_epsilon`, and a pathway can be shown for another epsilon
/// without computing it again.
std::vector<float> joining_levels(const pathway& p, const connect::region_list& regions, const voxel_neighbours& space,
                                  double largest_epsilon);

}  // namespace voxherd
