#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/phantom/score.hpp"

namespace voxherd {

struct detection_rule {
  double max_degrees = 25;                     ///< a fibre farther from its true one is not found
  float min_fraction = voxherd::min_fraction;  ///< of an estimated fibre that counts
};

/// How often the right fibres were found in some voxels.
struct detection_tally {
  std::uint64_t voxels = 0;
  std::uint64_t successes = 0;  ///< as many fibres as in the truth, each within max_degrees
  std::uint64_t known = 0;      ///< successes of the strongest estimated fibres, as many as in the truth
  std::uint64_t extra = 0;      ///< estimated fibres beyond the true number
  std::uint64_t missing = 0;    ///< fibres short of the true number
};

constexpr std::size_t angle_bins = 9;  ///< of 10 degrees each

struct detection_score {
  detection_tally all;
  std::vector<detection_tally> by_number;            ///< voxels with 1, 2, ... true fibres
  std::array<detection_tally, angle_bins> by_angle;  ///< voxels with two true fibres, by the angle between them
};

/// Voxels without true fibres are not scored. `estimate` has fractions.
detection_score score_detection(const fibre_field& truth, const fibre_field& estimate, const detection_rule& rule);

std::string format_table(const detection_score& score);
nlohmann::ordered_json score_json(const detection_score& score);

}  // namespace voxherd
