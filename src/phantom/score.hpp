#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

/// Folders of NIfTI maps, such as the truth of a phantom or an exported result.

namespace voxherd {

/// Finds the first existing file FOLDER/NAME.nii.gz or FOLDER/NAME.nii among several names.
std::optional<std::string> image_named(const std::string& folder, const std::vector<std::string>& names);

/// Reads an image as voxels x volumes, volume fastest. Sets `size` if it is zero, otherwise requires the same size.
/// Throws failure (bad_data).
std::vector<float> read_image(const std::string& path, std::uint64_t volumes, std::array<std::uint64_t, 3>& size);

/// The truth/ of a phantom's folder, or the folder itself. Throws failure (missing_input) if it is not a folder.
std::string truth_folder(const std::string& folder);

/// Fibre orientations and fractions on an image grid, true or estimated.
struct fibre_field {
  std::array<std::uint64_t, 3> size{};
  std::vector<std::vector<float>> direction;  ///< per fibre: voxels x 3; zero for no fibre
  std::vector<std::vector<float>> fraction;   ///< per fibre: voxels; empty if fractions are not estimated
  std::vector<std::uint64_t> voxels;          ///< voxels to be scored
};

/// A fibre with a smaller fraction does not count; bedpostX's threshold for dyads.
constexpr float min_fraction = 0.05f;

/// How well one true fibre (the largest of its voxel, the second, ...) was estimated.
struct fibre_score {
  std::uint64_t fibres = 0;  ///< in the truth
  std::uint64_t missed = 0;  ///< without a partner in the estimate
  double mean_degrees = 0, median_degrees = 0, percentile95_degrees = 0;
  double mean_fraction_error = 0;  ///< mean of |estimate - truth|
  double fraction_bias = 0;        ///< mean of estimate - truth
};

struct orientation_score {
  std::vector<fibre_score> fibre;  ///< indexed by rank in the truth
  fibre_score all;                 ///< all fibres together
  std::uint64_t voxels = 0;        ///< compared
  std::uint64_t false_fibres = 0;  ///< estimated fibres without a partner in the truth
  std::uint64_t voxels_with_false_fibres = 0;
  bool has_fractions = true;
};

/// Pairs the fibres of each voxel so that the sum of the angles is smallest. Angles are between lines, 0 to 90 degrees.
orientation_score score_orientations(const fibre_field& truth, const fibre_field& estimate);

/// Reads the folder of a phantom (or its truth/). Throws failure.
fibre_field read_truth(const std::string& folder);

/// Reads a result of ballstick (mean_f1, dyads1, ...) or tensor (V1), or a folder of NIfTI maps (f1, mean_f1samples or
/// mean_f1, dyads1, ...). Throws failure.
fibre_field read_estimate(const std::string& path);

std::string format_table(const orientation_score& score);
nlohmann::ordered_json score_json(const orientation_score& score);

}  // namespace voxherd
