#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "src/scan/gradients.hpp"

namespace voxherd {

/// How far streamlines run with one change of the directions.
struct direction_score {
  std::string change;  ///< "y negated", "x and y swapped", "read along the world axes"; "" for the table as it is
  std::optional<direction_frame> frame;  ///< the frame that the change amounts to
  /// Length per end that is no end of the image or of the object: a sharp turn, or a place without a direction. In all
  /// of the block, and from either half of the seeds.
  double free_mm = 0;
  std::array<double, 2> half_free_mm{};
};

/// Whether flipped or swapped gradient directions, or another frame, fit a series better, after the test of Jeurissen,
/// Leemans & Sijbers (Med Image Anal 18:953, 2014): tensors are fitted once, and short streamlines follow their main
/// directions, changed in each way. Their length is divided by the number of ends that mean a wrong direction, so that
/// a field of parallel directions has no better and no worse change. It looks at about 20,000 voxels and 64 volumes at
/// most, around the object's centre.
class direction_check {
 public:
  direction_check() = default;  ///< of a series without gradients
  /// `gradients`: in FSL's frame, of a table in the frame `given`. `object`: increasing linear indices.
  direction_check(const image_grid& grid, const gradient_table& gradients, direction_frame given,
                  std::span<const std::uint64_t> object);

  /// What it looks at: positions in `object`, increasing, and volumes. Both are empty if the gradients do not determine
  /// a tensor.
  const std::vector<std::uint64_t>& items() const { return items_; }
  const std::vector<std::uint32_t>& volumes() const { return volumes_; }
  /// The signal of volumes()[volume] in items()[item].
  float& signal(std::size_t item, std::size_t volume) { return rows_[item * volumes_.size() + volume]; }

  /// The table as it is, then the others, the best first. Empty if too few voxels are anisotropic.
  std::vector<direction_score> scores() const;

 private:
  image_grid grid_;
  direction_frame given_ = direction_frame::fsl;
  gradient_table gradients_;            ///< of the volumes that are used
  std::vector<std::uint32_t> volumes_;  ///< their numbers
  std::array<std::uint64_t, 3> size_{};
  std::vector<std::uint64_t> items_;
  std::vector<std::uint64_t> places_;  ///< of the items in the block
  std::vector<float> rows_;            ///< (item, volume)
};

/// The change that fits clearly better than the table as it is. `scores`: of direction_check.
std::optional<direction_score> find_better(const std::vector<direction_score>& scores, const image_grid& grid);

/// "the directions do not fit the image: ..."
std::string describe_better(const direction_score& better, const direction_score& given);

/// ", or read it so (--bvecs-frame image)"; "" if no frame is better, or if the table is read along the world axes, as
/// MRtrix's always are. `given`: the frame in which it is read.
std::string frame_advice(const direction_score& better, direction_frame given);

}  // namespace voxherd
