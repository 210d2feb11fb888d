#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/portable/gradient_table.hpp"
#include "src/scan/direction_frame.hpp"

namespace voxherd {

/// A volume with b (s/mm2) up to this counts as b=0 when a b=0 volume is needed; the fits use the given b.
constexpr double max_b0_s_per_mm2 = 50;

/// Which volumes count as b=0, and whether a series must have one: 7 T scans of the HCP have b = 55 to 65.
struct b0_rule {
  double max_s_per_mm2 = max_b0_s_per_mm2;
  bool is_required = true;  ///< otherwise only a warning
};

/// Files of b-values and directions: FSL's two, or twice MRtrix's table (x y z b in each line).
struct gradient_files {
  std::string bvals, bvecs;
  std::optional<direction_frame> frame = {};  ///< of the directions; none: MRtrix's of its table, else FSL's
};

/// The frame in which the directions are given. Throws failure: usage for another one than MRtrix's of its table.
direction_frame find_frame(const gradient_files& files);

/// Reads FSL's bvals (1xN or Nx1) and bvecs (3xN or Nx3; 3x3 is read as three rows), separated by white space or
/// commas, or columns of MRtrix's table (Nx4). Directions stay in their frame. Normalises nonzero directions. Requires
/// one entry for each of `volumes`, finite numbers, b >= 0, a direction wherever b is above 0, b=0 volumes as the rule
/// says, and units of s/mm2. Throws failure that names the file, the line, the value found and the value expected; logs
/// a warning for unusual but usable values.
gradient_table read_gradients(const std::string& bvals, const std::string& bvecs, std::uint64_t volumes,
                              const b0_rule& b0 = {});

/// The same along FSL's axes of the series' grid.
gradient_table read_gradients(const gradient_files& files, const image_grid& grid, std::uint64_t volumes,
                              const b0_rule& b0 = {});

/// The frame of a table without one by MRtrix's `table` of the same directions: FSL's if they agree in it, else the
/// image's or the world's. Throws failure (bad_data) that names both files if they agree in none or have other
/// b-values.
direction_frame compare_with_table(const gradient_files& files, const std::string& table, const image_grid& grid,
                                   std::uint64_t volumes);

/// Of some volumes.
gradient_table choose_gradients(const gradient_table& all, const std::vector<std::uint32_t>& volumes);

}  // namespace voxherd
