#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "kernels/portable/gradient_table.hpp"
#include "src/scan/gradient_deviation.hpp"
#include "src/scan/single_voxels.hpp"
#include "src/show/common_figures.hpp"
#include "src/show/panels.hpp"

namespace voxherd::view {

/// Directions of a model in a voxel, its parameters, and signal and fit of each measurement.
class orientation_panel : public voxel_panel {
 public:
  orientation_panel(const result_reader& r, const report::grid_view& grid);
  nlohmann::json describe(std::uint64_t voxel) override;

 protected:
  /// Directions in world space, fractions and samples; the first one is that to which angles are shown.
  virtual nlohmann::json describe_fibres(std::uint64_t item) const = 0;
  /// The same first direction in the frame of the bvecs.
  virtual std::array<double, 3> first_direction(std::uint64_t item) const = 0;
  virtual std::vector<double> predict(std::uint64_t item, const gradient_table& gradients) const = 0;

  bool deviates() const { return deviation_.has_value(); }
  /// 0 without such a map.
  double value(const std::string& map, std::uint64_t item) const;
  std::array<double, 3> direction(const std::string& map, std::uint64_t item) const;
  /// An item's samples of polar angle and azimuth as directions in world space.
  nlohmann::json sampled_directions(const std::string& polar, const std::string& azimuth, std::uint64_t item) const;

  const result_reader& result_;
  const report::grid_view& grid_;
  item_maps maps_;

 private:
  void add_signal(std::uint64_t voxel, std::uint64_t item, nlohmann::json& j);

  gradient_table gradients_;
  std::optional<single_voxels> series_, deviation_;
  deviation_reader read_deviation_;
};

}  // namespace voxherd::view
