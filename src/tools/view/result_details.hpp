#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "src/tools/view/answers.hpp"
#include "src/tools/view/fibre_chooser.hpp"
#include "src/tools/view/page_grid.hpp"
#include "src/tools/view/ray_tracer.hpp"
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
///   /api/streamlines     POST of a fibre_choice; block: those that pass, evenly spread
///   /api/streamlines/trx POST of a fibre_choice; TRX: all that pass
///   /api/rays/N          block: the fibres that start in a voxel of the page
///   /api/traced/N        block: all rays of the run's seeds there, traced again
class result_details {
 public:
  /// What is given must outlive this. `regions` and `tracer`: null without. `names`: of labels, where known.
  result_details(const shown_data& data, const page_grid& grid, const label_image* regions,
                 const std::map<std::int32_t, std::string>& names, ray_tracer* tracer);

  /// What the result contains, for the page to choose its panels.
  nlohmann::json describe() const;
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
  std::unique_ptr<voxel_details> voxels_;  ///< made at the first request
  std::optional<fibre_chooser> fibres_;    ///< of a result with fibres
  ray_tracer* tracer_;
};

}  // namespace voxherd::view
