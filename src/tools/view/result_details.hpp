#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/tools/view/answers.hpp"
#include "src/tools/view/page_grid.hpp"
#include "src/tools/view/shown_data.hpp"

namespace voxherd::view {

/// What an analysis knows of one voxel besides its maps. For one thread.
class voxel_details {
 public:
  virtual ~voxel_details() = default;
  /// `voxel`: linear index in the file. Throws failure if it cannot be found.
  virtual nlohmann::json describe(std::uint64_t voxel) = 0;
};

/// Those of the analysis; null if it has none. `r` and `grid` must outlive the result.
std::unique_ptr<voxel_details> make_perfusion_details(const result_reader& r);
std::unique_ptr<voxel_details> make_ballstick_details(const result_reader& r, const page_grid& grid);

/// Answers about a result besides its maps:
///   /api/voxel/N         JSON: curve and fit, or signal and orientations, of a voxel of the page
///   /api/matrix/N        block: a matrix of the connectome
///   /api/streamlines/N   block: up to N of the result's fibres, evenly spread
///   /api/rays/N          block: the fibres that start in a voxel of the page
class result_details {
 public:
  /// Both must outlive this.
  result_details(const shown_data& data, const page_grid& grid);

  /// What the result contains, for the page to choose its panels.
  nlohmann::json describe() const;
  /// Nothing for another address. Throws failure.
  std::optional<http_answer> answer(const std::string& target);

 private:
  http_answer describe_voxel(std::uint64_t voxel);

  const shown_data& data_;
  const page_grid& grid_;
  std::unique_ptr<voxel_details> voxels_;  ///< made at the first request
};

}  // namespace voxherd::view
