#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mpi/result/result_reader.hpp"
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

/// How often a region made from posterior samples contains the truth.
struct coverage_count {
  std::uint64_t voxels = 0, within = 0;
};

/// What exact posteriors would reach with as many samples.
struct expected_coverage {
  double interval90 = 0;          ///< between the samples' 5th and 95th percentile
  double cone90 = 0, cone50 = 0;  ///< around the samples' own mean direction
};

/// Cones by simulation of distributions that are normal in the plane; the same numbers on each call.
expected_coverage compute_expected_coverage(std::size_t samples);

struct calibration_score {
  std::size_t samples = 0;
  expected_coverage expected;
  /// Voxels filled by one fibre (truth: 95 % of the voxel, or no fibre else).
  coverage_count single_cone90, single_cone50, single_fraction;
  double median_cone_degrees = 0, median_error_degrees = 0;
  /// Voxels of two fibres more than 40 degrees apart, the smaller one with more than a quarter, both found within 25
  /// degrees.
  coverage_count first_cone90, second_cone90, share;
};

/// Nothing if the result has no samples of fibres.
std::optional<calibration_score> score_calibration(const fibre_field& truth, const result_reader& result);

std::string format_table(const calibration_score& score);
nlohmann::ordered_json score_json(const calibration_score& score);

}  // namespace voxherd
