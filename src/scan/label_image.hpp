#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "src/io/label_limits.hpp"
#include "src/scan/mask_rules.hpp"

namespace voxherd {

/// Number of sample points per voxel of `grid` along each axis, so that their distance does not exceed the voxel size
/// of `labels`; 1 to 10.
std::array<int, 3> samples_per_axis(const image_grid& grid, const image_grid& labels);

/// Resamples labels from the grid `of` to `grid` by world coordinates: the most frequent label above 0 among a voxel's
/// samples, the smaller one in a tie; 0 if no sample has a label. `mostly_none` returns the number of voxels that have
/// a label in less than half of their samples.
std::vector<std::int32_t> look_up(const std::vector<std::int32_t>& labels, const image_grid& of, const image_grid& grid,
                                  std::uint64_t& mostly_none);

/// Sorts labels and returns the most frequent one, the smallest in a tie; 0 if there are none.
std::int32_t find_most_frequent(std::vector<std::int32_t>& labels);

/// A parcellation or mask resampled to an image's grid.
struct label_image {
  std::string path;
  std::vector<std::int32_t> label;                 ///< (nz, ny, nx) on the image's grid; 0 for no label
  std::vector<std::int32_t> values;                ///< labels above 0 in the file, increasing
  std::vector<std::uint64_t> voxel_count;          ///< number of voxels of the image's grid with values[i]
  std::map<std::int32_t, std::string> names = {};  ///< of labels, if the file has a table of them

  /// Linear indices of the voxels with one of `wanted` (empty: any label above 0), increasing.
  std::vector<std::uint64_t> voxels_with(const std::vector<std::int32_t>& wanted) const;
};

/// Fills `voxel_count`; warns if a label has no voxels.
void count_voxels(label_image& image);

/// The voxels of a mask or of all labels; notes their number in the description of the input.
std::vector<std::uint64_t> counted_voxels(const label_image& image, nlohmann::json& input);

enum class label_kind {
  mask,    ///< any value above 0 is inside: labels 0 and 1
  labels,  ///< integers; values below 0, NaN and infinity count as no label
};

/// The label of a value of file `name`. `largest`: largest_label or largest_float_label. Throws failure (bad_data): a
/// parcellation's is not an integer or too large, at `place` ("voxel", "vertex") `number`.
std::int32_t to_label(double value, std::int32_t largest, label_kind kind, const std::string& name, const char* place,
                      std::uint64_t number);

/// The labels above 0, increasing, each once.
std::vector<std::int32_t> list_labels(const std::vector<std::int32_t>& labels);

/// Reads a label image on one rank. An image on another grid is resampled by world coordinates: each voxel is sampled
/// at enough points to cover the file's resolution (only its centre if the file is coarser) and gets the most frequent
/// label above 0, the smaller one in a tie, regardless of unlabelled samples. Thin labels thus stay connected, where a
/// majority rule would leave holes; they grow by less than a voxel. An image of the same size without orientation is
/// matched by index. Throws failure (missing_input, bad_data): several volumes, a label that is not an integer, no
/// labels if the rules refuse this, or no labels on the grid. `reference`: for this message, the grid's file if there
/// are several images.
label_image read_labels(const std::string& path, const image_grid& grid, label_kind kind,
                        const std::string& reference = "", mask_rules rules = mask_rules::own);

/// Throws failure (bad_data) that names the first of `wanted` that the file does not contain, and the labels it
/// contains.
void check_labels(const label_image& image, const std::vector<std::int32_t>& wanted, const char* option);

/// Parses "1,2,5-9": integers from 1 to 2^31 - 1 and ranges of them, at most 2^24 in all; the result is increasing,
/// without repetition. Throws failure (usage) that names the option.
std::vector<std::int32_t> parse_labels(const std::string& list, const char* option);

}  // namespace voxherd
