#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

/// A series of volumes on one grid, from one 4-D image or from several images one after the other.
struct image_list {
  std::vector<nifti_header> files;

  const image_grid& grid() const { return files.front().grid; }
  std::uint64_t volumes() const;
  std::string name() const;  ///< for messages
  std::vector<std::string> paths() const;
};

/// Rank 0 reads the headers of an option's files, which are brought to the order of the first one. A single name that
/// ends in .txt is a list of names, one per line, relative to its folder. Names sorted by character, as by a shell, so
/// that 10 is before 2, are rejected. Throws failure (usage, missing_input, bad_data).
image_list read_image_list(const std::vector<std::string>& names, const char* option);

/// The ranks other than 0 read the headers of rank 0's images themselves; `paths` are known to all. Collective; throws
/// failure, the same on every rank.
void check_same_images(const session& s, const std::vector<std::string>& paths, image_list& images);

/// A series' rows for the voxels that are fitted, batch by batch, and for those that rank 0 examines before (VOIs).
/// A compressed file is decompressed once for both; if memory is sufficient only for a part of the items, once for
/// the examined voxels and once for each part.
class series_rows {
 public:
  /// Both lists are increasing and outlive this. `max_items`: items in memory at once. Collective; throws failure, the
  /// same on every rank.
  series_rows(const session& s, const image_list& images, const std::vector<std::uint64_t>& items,
              const std::vector<std::uint64_t>& looked_at, std::uint64_t max_items);

  staged_input& items() { return *items_; }                                 ///< wait for it before load_items()
  staged_input& looked_at() { return looked_at_ ? *looked_at_ : *items_; }  ///< wait for it before load_looked_at()

  std::size_t volumes() const { return volumes_; }
  /// Writes the volumes of item first + i to out + i * stride (floats). Throws failure (disk).
  void load_items(std::uint64_t first, std::uint64_t count, float* out, std::size_t stride);
  /// Rows of all examined voxels.
  void load_looked_at(float* out, std::size_t stride);

 private:
  using places = std::vector<std::uint64_t>;  ///< places of one list in the union of both; empty: the complete union
  void load(voxel_rows& rows, const places& where, std::uint64_t first, std::uint64_t count, float* out,
            std::size_t stride) const;

  std::size_t volumes_;
  std::uint64_t looked_at_count_;
  places all_, item_places_, look_places_;
  std::unique_ptr<voxel_rows> items_, looked_at_;  ///< for a compressed file the first has both
};

/// Rank 0 throws failure (bad_data) if the map has no T1 above 0 in the mask, or if its median is not a time in
/// seconds. Warns of voxels whose T1 is missing or outside its range.
void check_t1_map(const nifti_header& map, double unit_s, const std::vector<std::uint64_t>& mask);

}  // namespace voxherd
