#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxherd {

/// What is scored of a liver: parameters, with a standard deviation and bounds of their own, then what follows from
/// them. Flows in ml/100 g/min, times in s.
enum class perfusion_quantity { ka, kp, kl, tau_a, tau_p, arterial_fraction, distribution_volume, mean_transit_time };
inline constexpr std::size_t perfusion_quantity_count = 8, fitted_quantity_count = 5;
const char* name_of(perfusion_quantity q);
const char* unit_of(perfusion_quantity q);

/// Maps of a liver, true or estimated, each of all voxels of the grid.
struct perfusion_field {
  std::array<std::uint64_t, 3> size{};
  std::array<std::vector<float>, perfusion_quantity_count> value;
  std::array<std::vector<float>, fitted_quantity_count> deviation;  ///< empty where none is estimated
  std::vector<float> at_bound;                                      ///< bits by perfusion::parameter; or empty
  std::vector<std::uint64_t> voxels;                                ///< those that count, increasing
  std::vector<float> region;                                        ///< of truth: from 1 on; or empty
  std::vector<std::string> region_name;                             ///< of truth: of region i + 1
};

/// How many true values lie within two of the estimate's own standard deviations.
struct coverage {
  std::uint64_t voxels = 0;  ///< with a deviation above 0: neither fixed nor at a bound
  std::uint64_t within = 0;
  double share() const { return voxels > 0 ? static_cast<double>(within) / static_cast<double>(voxels) : 0; }
};

struct quantity_score {
  std::uint64_t voxels = 0;
  double bias = 0;                                ///< mean of estimate - truth
  double median_absolute = 0;                     ///< of the error
  double percentile5 = 0, percentile95 = 0;       ///< of the error
  coverage all;                                   ///< voxels
  coverage free;                                  ///< those of them where no parameter at all ended at a bound
  double at_bound = 0;                            ///< share of voxels
  bool has_deviation = false, has_bound = false;  ///< whether the estimate says
};

struct region_score {
  std::string name;
  std::uint64_t voxels = 0;      ///< in truth
  std::uint64_t not_fitted = 0;  ///< of them
  std::array<quantity_score, perfusion_quantity_count> quantity;
};

/// Delays are scored where the true flow they delay is at least this, ml/100 g/min: without flow they mean nothing.
constexpr double least_delayed_flow = 5;

/// Of each region that has voxels, and last of all together. `estimate.voxels`: those fitted.
std::vector<region_score> score_perfusion(const perfusion_field& truth, const perfusion_field& estimate);

/// Whether the folder (or its truth/) is of a liver phantom.
bool is_perfusion_truth(const std::string& folder);
/// Throws failure.
perfusion_field read_perfusion_truth(const std::string& folder);
/// A result of perfusion, or a folder of NIfTI maps (kl, ka, kp, tau_a, tau_p). Throws failure.
perfusion_field read_perfusion_estimate(const std::string& path);

std::string table_of(const std::vector<region_score>& scores);
nlohmann::ordered_json json_of(const std::vector<region_score>& scores);

}  // namespace voxherd
