#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/track/field.hpp"

namespace voxherd {

/// Counts the values that cannot be samples of fibres, while they are packed.
class sample_check {
 public:
  /// `fibre`: its number, from 0.
  void add(std::size_t fibre, const track::packed_values& seen);
  void add_overfull(std::uint64_t samples) { overfull_ += samples; }
  void add(const sample_check& other);
  /// `names`: of polar angle, azimuth and fraction of each fibre, for the message. Throws failure (bad_data).
  void refuse_bad(const std::vector<std::string>& names) const;

 private:
  std::vector<track::packed_values> fibres_;
  std::uint64_t overfull_ = 0;  ///< samples whose fractions add up to more than 1
};

}  // namespace voxherd
