#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "mpi/result/result_reader.hpp"
#include "src/show/surfaces.hpp"
#include "src/view/answers.hpp"
#include "src/view/fibre_choice.hpp"
#include "src/view/page_grid.hpp"
#include "src/view/shown_data.hpp"

namespace voxherd::view {

/// Answers about a result besides its maps, and about a surface:
///   /api/voxel/N         JSON: curve and fit, or signal and orientations, of a voxel of the page
///   /api/matrix/N        block: a matrix of the connectome
///   /api/streamlines/N   block: up to N of the result's fibres, evenly spread
///   /api/streamlines     POST of a fibre_choice; block: those that pass, evenly spread
///   /api/streamlines/trx POST of a fibre_choice; TRX: all that pass
///   /api/surface/N       block: the surface, or one among the result's inputs; N/K: its map K
///   /api/rays/N          block: the fibres that start in a voxel of the page
///   /api/traced/N        block: all rays of the run's seeds there, traced again
class result_details {
 public:
  /// What is given must outlive this. `regions` and `rays`: null without. `names`: of labels, where known.
  result_details(const shown_data& data, const page_grid& grid, const label_image* regions,
                 const std::map<std::int32_t, std::string>& names, ray_panel* rays);

  /// What the result contains, for the page to choose its panels.
  nlohmann::json describe() const;
  /// x, y, z on the page: in the middle, inside the mask if there is a panel of the voxel under the crosshair; of a
  /// surface alone, at a vertex.
  std::array<std::uint64_t, 3> first_place() const;
  /// Nothing for another address. Throws failure.
  std::optional<http_answer> answer(const http_request& request);

 private:
  std::optional<http_answer> answer_get(const std::string& target);
  std::optional<http_answer> answer_post(const http_request& request);
  http_answer describe_voxel(std::uint64_t voxel);
  http_answer save_trx(const fibre_choice& choice);
  http_answer trace_rays(std::uint64_t voxel);

  const shown_data& data_;
  const page_grid& grid_;
  std::unique_ptr<voxel_panel> voxels_;  ///< made at the first request
  std::optional<fibre_chooser> fibres_;  ///< only for a result with paths
  ray_panel* rays_;
  std::vector<shown_surface> surfaces_;  ///< as they were when the viewer started
};

/// Matrices of more regions are left to `voxherd export`.
inline constexpr std::uint64_t max_matrix_regions = 2000;

/// The connectome of a result: labels and names of its regions, and its matrices. Null if it has none.
nlohmann::json describe_matrices(const result_reader& r);

/// A block: {"regions"} and the values of a matrix, row by row. `number`: its place in describe_matrices(). Throws
/// failure (usage) if there is none, (bad_data) if it is too large.
std::string send_matrix(const result_reader& r, std::uint64_t number);

/// Names of the regions by label, if the run was given them.
std::map<std::int32_t, std::string> stored_region_names(const result_reader& r);

}  // namespace voxherd::view
