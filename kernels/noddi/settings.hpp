#pragma once

#include "kernels/voxel_model/settings.hpp"

namespace voxherd::noddi {

using voxel_model::noise_model;

/// What is uniform before the data are seen.
enum class dispersion_prior { odi, kappa };

/// Distribution of the directions of neurites: around a mean (Zhang 2012, NeuroImage 61:1000), or also fanning out in a
/// plane.
enum class distribution { watson, bingham };

/// The user's settings.
struct settings : voxel_model::settings {
  noddi::distribution distribution = noddi::distribution::watson;
  double d_par_mm2_per_s = 1.7e-3;
  double d_iso_mm2_per_s = 3.0e-3;
  bool dot = false;  ///< a compartment without attenuation
  dispersion_prior prior = dispersion_prior::odi;
};

/// Bounds of ODI: kappa is 64 at the smallest, 0.016 at the largest.
constexpr double min_odi = 0.00995, max_odi = 0.99;
/// Inside 0 and 1, where a fraction's derivatives vanish.
constexpr double min_fraction = 1e-6, max_fraction = 1 - 1e-6;

/// b-values with a table of their own.
constexpr int max_shells = 32;
/// Largest b d_par, at which 16 terms of the series have an error of 1e-6.
constexpr double max_b_times_d = 17.5;

/// Orders 0, 2, ... of the series: the smaller number has an error below 1e-6 up to b d_par = 6 (b = 3500 s/mm2).
constexpr int few_terms = 12, many_terms = 16;
constexpr double max_b_times_d_of_few_terms = 7.5;

}  // namespace voxherd::noddi
