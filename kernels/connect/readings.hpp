#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/connect/lattice.hpp"
#include "kernels/connect/lattice_builder.hpp"
#include "kernels/connect/solver.hpp"
#include "kernels/portable/function.hpp"

/// Host-side work common to all backends before arrival times are read.
namespace voxherd::connect {

/// Statistics of a front in a region; index front * regions + region. One thread per pair, in the order of the region's
/// list, so that the mean has the same bits on every device.
struct region_summer {
  const float* arrival;  ///< `cells` per front
  std::size_t cells;
  std::uint32_t regions;
  const std::uint64_t* region_offset;   ///< regions + 1
  const std::uint32_t* region_cell;     ///< cells of region r: region_offset[r] to region_offset[r + 1] - 1
  const std::uint32_t* number_of_cell;  ///< index of a cell among the voxels in the mask
  region_cost* to;

  VOXHERD_FUNCTION void operator()(std::uint32_t index) const {
    const float* u = arrival + index / regions * cells;
    const std::uint32_t region = index % regions;
    region_cost cost{INFINITY, ~std::uint32_t{0}, INFINITY, 0};
    double sum = 0;
    for (std::uint64_t i = region_offset[region]; i < region_offset[region + 1]; ++i) {
      const std::uint32_t cell = region_cell[i];
      const float here = u[cell];
      if (!(here < unreached)) continue;
      ++cost.reached;
      sum += static_cast<double>(here);
      if (!(here < cost.least)) continue;
      cost.least = here;
      cost.min_voxel = number_of_cell[cell];
    }
    if (cost.reached > 0) cost.mean = static_cast<float>(sum / cost.reached);
    to[index] = cost;
  }
};

struct region_cells {
  std::vector<std::uint64_t> offset{0};
  std::vector<std::uint32_t> cell;
  std::size_t regions() const { return offset.size() - 1; }
};

/// Throws std::invalid_argument for a voxel outside the mask or inconsistent offsets.
region_cells find_region_cells(const lattice& l, const region_list& regions);

/// Index of each cell among the voxels in the mask, 2^32 - 1 for none.
std::vector<std::uint32_t> number_of_cell(const lattice& l);

/// Throws std::invalid_argument for missing fronts or voxels, or settings out of range.
void check_paths(std::span<const path_request> paths, std::size_t fronts, std::size_t voxels,
                 const path_settings& settings);

/// Number of fronts whose flow is held at once, 16 bytes per cell.
std::uint32_t fronts_at_once(const lattice& l, std::size_t fronts, std::size_t max_bytes);

/// Whether any path belongs to one of `count` fronts from `first` on.
bool any_of_fronts(std::span<const path_request> paths, std::uint32_t first, std::uint32_t count);

}  // namespace voxherd::connect
