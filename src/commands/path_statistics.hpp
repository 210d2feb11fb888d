#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mpi/result/result_reader.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

/// An image whose values are averaged in tracts and along paths.
class statistic_image {
 public:
  /// Throws failure (missing_input, bad_data).
  explicit statistic_image(const std::string& path);
  /// The file's name without folder and ending.
  const std::string& name() const { return name_; }
  /// The value of the voxel that contains a place in the world; NaN outside the image.
  double at(const vector3& world_mm) const;

 private:
  explicit statistic_image(const nifti_header& header);

  std::string name_;
  image_grid grid_;
  grid_space space_;
  std::vector<float> values_;
};

/// Throws failure, also (usage) if two have the same name.
std::vector<statistic_image> read_statistic_images(const std::vector<std::string>& paths);

/// Finite values with weights. Their mean and median are NaN if there are none.
class weighted_values {
 public:
  void add(double value, double weight);
  double mean() const;
  double median() const;

 private:
  std::vector<std::pair<double, double>> values_;  ///< value, weight
};

/// The voxels of a tract: those with a density above 0, and of at least `min_density`.
class tract_voxels {
 public:
  tract_voxels(const image_grid& grid, std::vector<float> density, double min_density);
  std::uint64_t count() const { return voxels_.size(); }
  double volume_mm3() const;
  /// Values at the voxels' centres, weighted by the density.
  weighted_values sample(const statistic_image& image) const;

 private:
  image_grid grid_;
  grid_space space_;
  std::vector<float> density_;
  std::vector<std::uint64_t> voxels_;
};

/// A path, or a half of a streamline, between two regions.
struct path_row {
  std::uint64_t number = 0;  ///< of the path in the result, from 0
  std::array<std::int32_t, 2> regions{};
  double length_mm = 0;
  std::vector<double> means;  ///< of each image along it
};

struct path_table {
  bool has_regions = false;
  bool has_halves = false;  ///< rows are halves of streamlines, from the seed's region to the other one
  std::vector<path_row> rows;
};

/// Of all paths of a result. A streamline has a row for each region that it reaches, for the half that reaches it
/// first.
path_table measure_paths(const result_reader& result, const std::vector<statistic_image>& images);

}  // namespace voxherd
