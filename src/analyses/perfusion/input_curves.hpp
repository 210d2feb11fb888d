#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "src/analyses/perfusion/options.hpp"

namespace voxherd {

/// Rows of all voxels that rank 0 looks at: frames, then conversion::extras().
struct looked_rows {
  std::vector<std::uint64_t> voxels;  ///< increasing
  std::vector<float> rows;
  std::size_t stride = 0;
};

/// The mean of a region's signals: what becomes a curve.
struct region_signal {
  std::string name;            ///< for messages
  std::vector<double> frames;  ///< bridged where a frame does not count
  std::vector<double> extras;  ///< mean signal at each flip angle, or mean T1, s
  std::size_t voxels = 0;      ///< that are in the mean
};

/// `voxels` are among those looked at. Voxels that have no number in a counted frame, or no T1, are left out, with a
/// warning. Throws failure (bad_data) where none is left.
region_signal mean_signal(const std::string& name, const looked_rows& looked, const std::vector<std::uint64_t>& voxels,
                          const std::vector<double>& time_s, const std::vector<std::uint8_t>& counts,
                          const perfusion::conversion& convert);

/// S0 of a region: the mean of its counted baseline frames.
double baseline_of(const region_signal& region, const perfusion::conversion& convert,
                   const std::vector<std::uint8_t>& counts);

/// T1 of a region, s: `given_s` where it is above 0, else from its extras, else the constant one; 0 where none is used.
/// Throws failure (bad_data) naming the region.
double t1_of(const region_signal& region, const perfusion::conversion& convert, double given_s);

/// A region's concentrations. Throws failure (bad_data): no signal before the agent.
std::vector<double> concentrations(const region_signal& region, const perfusion::conversion& convert, double S0,
                                   double t1_s);

/// Columns 1 (time, s) and `column` of a table, read at the frames: linear between its rows. Throws failure
/// (missing_input, bad_data): times that do not rise, or end before the frames do.
std::vector<double> read_curve(const std::string& path, std::size_t column, const char* option,
                               const std::vector<double>& time_s);

}  // namespace voxherd
