#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis.hpp"

/// Folders of NIfTI maps, such as the truth of a phantom or an exported result.
namespace voxherd {

/// Finds the first existing file FOLDER/NAME.nii.gz or FOLDER/NAME.nii among several names.
std::optional<std::string> image_named(const std::string& folder, const std::vector<std::string>& names);

/// Reads an image as voxels x volumes, volume fastest. Sets `grid` if it has no voxels, otherwise requires the same
/// size and order of storage. Throws failure (bad_data).
std::vector<float> read_image(const std::string& path, std::uint64_t volumes, image_grid& grid);

/// Throws failure (bad_data) if two images have different sizes, or have their voxels at the same places in the world
/// but in another order. `what`: the expected one.
void expect_same_order(const std::string& path, const image_grid& found, const image_grid& expected, const char* what);

/// The truth/ of a phantom's folder, or the folder itself. Throws failure (missing_input) if it is not a folder.
std::string truth_folder(const std::string& folder);

/// Fibre orientations and fractions on an image grid, true or estimated.
struct fibre_field {
  image_grid grid;
  std::vector<std::vector<float>> direction;  ///< per fibre: voxels x 3; zero for no fibre
  std::vector<std::vector<float>> fraction;   ///< per fibre: voxels; empty if fractions are not estimated
  std::vector<std::uint64_t> voxels;          ///< voxels to be scored
  bool fractions_are_volumes = false;         ///< truth of bundles: shares of the voxel, not of the signal
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

/// Angles in degrees between fibres of two fields in a voxel: one row per fibre of the first.
std::vector<std::vector<double>> fibre_angles(const fibre_field& a, const std::vector<std::size_t>& of_a,
                                              const fibre_field& b, const std::vector<std::size_t>& of_b,
                                              std::uint64_t voxel);

/// For each true fibre (row) the index of its partner in `found`, or at least found.size() for none; the pairing with
/// the smallest total.
std::vector<std::size_t> best_fibre_pairing(const std::vector<std::vector<double>>& degrees, std::size_t found);

/// Pairs the fibres of each voxel so that the sum of the angles is smallest. Angles are between lines, 0 to 90 degrees.
orientation_score score_orientations(const fibre_field& truth, const fibre_field& estimate);

/// Reads the folder of a phantom (or its truth/). Throws failure.
fibre_field read_truth(const std::string& folder);

/// Reads a result of ballstick (mean_f1, dyads1, ...) or tensor (V1), or a folder of NIfTI maps (f1, mean_f1samples or
/// mean_f1, dyads1, ...). Throws failure.
fibre_field read_estimate(const std::string& path);

std::string format_table(const orientation_score& score);
nlohmann::ordered_json score_json(const orientation_score& score);

/// A map scored in a liver.
struct scored_quantity {
  const char *name, *unit;
  bool is_parameter;  ///< of liver_model, with standard deviations and bounds; or derived from the parameters
  std::size_t place;  ///< in the model's table of either
};
/// In the order in which results show them: the parameters of liver_model, then what is derived.
const std::vector<scored_quantity>& scored_quantities();

/// True or estimated maps of a liver, each over all voxels of the grid.
struct perfusion_field {
  using maps = std::vector<std::vector<float>>;  ///< of each of scored_quantities()

  image_grid grid;
  maps value = maps(scored_quantities().size());
  maps deviation = maps(scored_quantities().size());  ///< empty if not estimated
  std::vector<float> at_bound;                        ///< bit i: parameter i of the model; or empty
  std::vector<std::uint64_t> voxels;                  ///< voxels to be scored, increasing
  std::vector<float> region;                          ///< truth only: region from 1 on; or empty
  std::vector<std::string> region_name;               ///< truth only: name of region i + 1
};

/// Counts how often the true value is within two standard deviations of the estimate.
struct coverage {
  std::uint64_t voxels = 0;  ///< with a deviation above 0: neither fixed nor at a bound
  std::uint64_t within = 0;
  double share() const { return voxels > 0 ? static_cast<double>(within) / static_cast<double>(voxels) : 0; }
};

struct quantity_score {
  std::uint64_t voxels = 0;
  double bias = 0;                                ///< mean of estimate - truth
  double median_absolute = 0;                     ///< median of |estimate - truth|
  double percentile5 = 0, percentile95 = 0;       ///< percentiles of estimate - truth
  coverage all;                                   ///< all voxels
  coverage free;                                  ///< voxels in which no parameter ended at a bound
  double at_bound = 0;                            ///< fraction of voxels
  bool has_deviation = false, has_bound = false;  ///< whether the estimate contains them
};

struct region_score {
  std::string name;
  std::uint64_t voxels = 0;              ///< in the truth
  std::uint64_t not_fitted = 0;          ///< number of those voxels that were not fitted
  std::vector<quantity_score> quantity;  ///< of each of scored_quantities()
};

/// Delays are scored only where the true flow that they delay is at least this, ml/100 g/min; without flow they are
/// undefined.
constexpr double min_delayed_flow = 5;

/// Scores each region that has voxels and, as the last entry, all voxels together. `estimate.voxels`: the fitted
/// voxels.
std::vector<region_score> score_perfusion(const perfusion_field& truth, const perfusion_field& estimate);

/// Whether the folder (or its truth/) contains a liver phantom.
bool is_perfusion_truth(const std::string& folder);
/// Throws failure.
perfusion_field read_perfusion_truth(const std::string& folder);
/// A result of perfusion, or a folder of NIfTI maps of all parameters. Throws failure.
perfusion_field read_perfusion_estimate(const std::string& path);

std::string format_table(const std::vector<region_score>& scores);
nlohmann::ordered_json score_json(const std::vector<region_score>& scores);

}  // namespace voxherd
