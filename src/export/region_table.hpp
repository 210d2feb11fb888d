#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

/// Median and quartiles of one map over the fitted voxels of one region, interpolated between values as numpy does.
struct region_values {
  std::int32_t label = 0;
  std::string name;  ///< its label if it has none
  std::string map, unit;
  std::uint64_t voxels = 0;  ///< of the region that are fitted; without any there are no quartiles
  double lower_quartile = 0, median = 0, upper_quartile = 0;
};

/// Whether it was computed with --regions.
bool has_regions(const result_reader& r);

/// Of every map with one real number per voxel in every region of the result's --regions, region after region; empty
/// without any. `fitted`: the voxels that have values.
std::vector<region_values> find_region_values(const result_reader& r, const std::vector<std::uint64_t>& fitted);

/// The voxels of a complete result with status 0.
std::vector<std::uint64_t> find_fitted_voxels(const result_reader& r);

/// One line per region and map: label,name,map,unit,voxels,lower_quartile,median,upper_quartile.
std::string region_table(const std::vector<region_values>& list);

}  // namespace voxherd
