#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace voxherd {

/// Quantities scored in a liver: first the parameters, which have standard deviations and bounds, then derived
/// quantities. Flows in ml/100 g/min, times in s.
enum class perfusion_quantity { ka, kp, kl, tau_a, tau_p, arterial_fraction, distribution_volume, mean_transit_time };
inline constexpr std::size_t perfusion_quantity_count = 8, fitted_quantity_count = 5;
const char* quantity_name(perfusion_quantity q);
const char* quantity_unit(perfusion_quantity q);

/// True or estimated maps of a liver, each over all voxels of the grid.
struct perfusion_field {
  std::array<std::uint64_t, 3> size{};
  std::array<std::vector<float>, perfusion_quantity_count> value;
  std::array<std::vector<float>, fitted_quantity_count> deviation;  ///< empty if not estimated
  std::vector<float> at_bound;           ///< bit set indexed by perfusion::parameter; or empty
  std::vector<std::uint64_t> voxels;     ///< voxels to be scored, increasing
  std::vector<float> region;             ///< truth only: region from 1 on; or empty
  std::vector<std::string> region_name;  ///< truth only: name of region i + 1
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
  std::uint64_t voxels = 0;      ///< in the truth
  std::uint64_t not_fitted = 0;  ///< number of those voxels that were not fitted
  std::array<quantity_score, perfusion_quantity_count> quantity;
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
/// A result of perfusion, or a folder of NIfTI maps (kl, ka, kp, tau_a, tau_p). Throws failure.
perfusion_field read_perfusion_estimate(const std::string& path);

std::string format_table(const std::vector<region_score>& scores);
nlohmann::ordered_json score_json(const std::vector<region_score>& scores);

}  // namespace voxherd
