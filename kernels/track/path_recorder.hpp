#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/track/met_surfaces.hpp"
#include "kernels/track/stamped_table.hpp"
#include "kernels/track/tracker.hpp"

namespace voxherd::track {

/// The halves of one accepted streamline that count.
struct streamline_path {
  /// In voxels of the seeds' image: from the end of the first half through the start to the end of the second.
  std::vector<std::array<float, 3>> points;
  std::size_t start = 0;                ///< number of the point at which it starts
  std::vector<std::uint32_t> reached;   ///< of each point: the other region that its half first reaches there; 0: none
  std::array<std::int32_t, 2> steps{};  ///< number of steps of each half; 0 for one that does not count
  std::array<std::uint32_t, 2> regions{};  ///< number of the last other region on each half; 0: none
};

/// What a streamline meets on both halves, whether they count or not.
struct met_masks {
  std::uint32_t includes = 0;  ///< one bit per include mask
  bool exclude = false;        ///< an exclude mask
  bool other_region = false;   ///< another region than the seed's
};

/// Draws chosen streamlines again and keeps their points. In host memory; used by one thread.
class path_recorder {
 public:
  /// `input` is only read.
  explicit path_recorder(const track_input& input);

  /// The streamline with this number; without points if it is rejected.
  void record(std::uint64_t number, streamline_path& path);
  /// What the streamline with this number meets, accepted or not.
  met_masks find_masks(std::uint64_t number);

 private:
  /// Of each point of a half: the region other than the seed's that is reached there for the first time. Of several at
  /// one point the others are at the next points that are free, else at earlier ones.
  std::vector<std::uint32_t> find_reached(std::span<const std::array<float, 3>> half, std::uint32_t own_region) const;
  /// The regions of point `i` of a half, and of the surfaces that the step to it crosses.
  void list_regions(std::span<const std::array<float, 3>> half, std::size_t i,
                    std::vector<std::uint32_t>& regions) const;
  /// The surfaces that the step to point `i` crosses.
  met_surfaces meet(std::span<const std::array<float, 3>> points, std::size_t i, std::uint32_t own_region) const;
  std::uint32_t marks_at(const std::array<float, 3>& point) const;

  field_view field_;
  walk_settings how_;
  std::span<const seed> seeds_;
  std::uint64_t per_seed_;
  table_memory<visit_entry> visits_;
  table_memory<cell_entry> cells_;
};

}  // namespace voxherd::track
