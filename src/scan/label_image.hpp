#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis.hpp"

namespace voxherd {

/// A parcellation or mask brought to an image's grid.
struct label_image {
  std::string path;
  std::vector<std::int32_t> label;       ///< (nz, ny, nx) on the image's grid; 0 where there is none
  std::vector<std::int32_t> values;      ///< labels above 0 in the file, increasing
  std::vector<std::uint64_t> voxels_of;  ///< voxels of the image's grid that have values[i]

  /// Linear indices of voxels with one of `wanted` (empty: with any above 0), increasing.
  std::vector<std::uint64_t> voxels_with(const std::vector<std::int32_t>& wanted) const;
};

enum class label_kind {
  mask,    ///< above 0 is inside, whatever the number: labels 0 and 1
  labels,  ///< whole numbers; those below 0, NaN and infinity count as none
};

/// By one process. An image on another grid is looked up by world coordinates: a voxel is sampled at as many points as
/// cover it at the file's resolution (at its centre where the file is coarser), and takes the most frequent label above
/// 0 among them, the smaller of two equally frequent ones, however many samples have none: thin labels stay whole where
/// a majority would punch holes into them, and what they gain is less than a voxel. An image of the same size without
/// any orientation in its header is matched by index. Throws failure (missing_input, bad_data): several volumes, a
/// label that is not whole, no label at all, no label on the grid.
label_image read_labels(const std::string& path, const image_grid& grid, label_kind kind);

/// Throws failure (bad_data) naming the first of `wanted` that the file has not, and those that it has.
void check_labels(const label_image& image, const std::vector<std::int32_t>& wanted, const char* option);

/// "1,2,5": whole numbers of 1 to 2^24, increasing, each once. Throws failure (usage) naming the option.
std::vector<std::int32_t> parse_labels(const std::string& list, const char* option);

}  // namespace voxherd
