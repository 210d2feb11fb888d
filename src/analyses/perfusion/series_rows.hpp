#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/analyses/perfusion/image_list.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

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
  using places = std::vector<std::uint64_t>;  ///< of one list in the union of both; empty: the complete union
  void load(voxel_rows& rows, const places& where, std::uint64_t first, std::uint64_t count, float* out,
            std::size_t stride) const;

  std::size_t volumes_;
  std::uint64_t looked_at_count_;
  places all_, item_places_, look_places_;
  std::unique_ptr<voxel_rows> items_, looked_at_;  ///< for a compressed file the first has both
};

}  // namespace voxherd
