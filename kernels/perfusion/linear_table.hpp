#pragma once

#include <cstdint>
#include <vector>

#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

/// Input of every voxel's linear fit, per frame.
struct linear_view {
  const double* arterial_integral;  ///< of the delayed input up to the frame, its unit x s
  const double* portal_integral;
  const double* time_s;        ///< since the first frame
  const std::uint8_t* counts;  ///< 1: fitted
  int frames;
};

/// The numbers of a linear_view, in host memory: the delays are the same for all voxels, so the inputs are
/// integrated once, exactly (they are linear between frames, see time_course).
class linear_table {
 public:
  linear_table(const time_course& t, double arterial_delay_s, double portal_delay_s);
  linear_view view() const { return view_of(values_.data(), counts_.data()); }
  /// The same numbers in another memory, copied there in the order of values() and counts().
  linear_view view_of(const double* values, const std::uint8_t* counts) const;
  const std::vector<double>& values() const { return values_; }
  const std::vector<std::uint8_t>& counts() const { return counts_; }

 private:
  std::vector<double> values_;  ///< arterial, portal, times
  std::vector<std::uint8_t> counts_;
};

}  // namespace voxherd::perfusion
