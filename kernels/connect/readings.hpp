#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/connect/lattice_builder.hpp"
#include "kernels/connect/path_follower.hpp"
#include "kernels/connect/solver.hpp"

/// Host-side work common to all backends before arrival times are read.
namespace voxherd::connect {

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

/// Sets the follower's members known on the host: settings, axes, origin.
path_follower make_follower(const path_settings& settings, const double (&axes_mm)[9], const double (&origin_mm)[3]);

}  // namespace voxherd::connect
