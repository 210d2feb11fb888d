#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

/// Rows of all voxels that rank 0 examines before the fit: frames, then conversion::extras().
struct looked_rows {
  std::vector<std::uint64_t> voxels;  ///< increasing
  std::vector<float> rows;
  std::size_t stride = 0;
};

/// The mean signals of a region, from which its curve is computed.
struct region_signal {
  std::string name;            ///< for messages
  std::vector<double> frames;  ///< interpolated at frames that are not fitted
  std::vector<double> extras;  ///< mean signal at each flip angle, or mean T1, s
  std::size_t voxels = 0;      ///< in the mean
};

enum class region_kind { blood, tissue };

/// `voxels` are among those examined. Voxels that have no number in a fitted frame, or no T1, are left out, with a
/// warning. Throws failure (bad_data) if none is left.
region_signal mean_signal(const std::string& name, const looked_rows& looked, const std::vector<std::uint64_t>& voxels,
                          const std::vector<double>& time_s, const std::vector<std::uint8_t>& counts,
                          const perfusion::conversion& convert);

/// S0 of a region: the mean of its baseline frames that are fitted.
double find_baseline(const region_signal& region, const perfusion::conversion& convert,
                     const std::vector<std::uint8_t>& counts);

/// T1 of a region, s: `given_s` if it is above 0, else from its extras, else the constant one; 0 if none is used.
/// Throws failure (bad_data) with the region's name.
double t1_of(const region_signal& region, const perfusion::conversion& convert, double given_s, region_kind kind);

/// A region's concentrations. Throws failure (bad_data): no signal before the agent.
std::vector<double> concentrations(const region_signal& region, const perfusion::conversion& convert, double S0,
                                   double t1_s);

/// Columns 1 (time, s) and `column` of a table, interpolated linearly at the frames. Throws failure (missing_input,
/// bad_data): times that do not increase, or that do not cover the frames.
std::vector<double> read_curve(const std::string& path, std::size_t column, const char* option,
                               const std::vector<double>& time_s);

}  // namespace voxherd
