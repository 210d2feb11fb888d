#include "src/tools/view/result_details.hpp"

#include <string_view>

#include "core/failure.hpp"
#include "src/tools/view/matrices.hpp"
#include "src/tools/view/streamlines.hpp"

namespace voxherd::view {

namespace {

constexpr std::string_view voxel_address = "/api/voxel/", matrix_address = "/api/matrix/",
                           streamline_address = "/api/streamlines/", ray_address = "/api/rays/";

bool has_voxel_details(const std::string& analysis) { return analysis == "perfusion" || analysis == "ballstick"; }

}  // namespace

result_details::result_details(const shown_data& data, const page_grid& grid) : data_(data), grid_(grid) {}

nlohmann::json result_details::describe() const {
  const result_reader* r = data_.result();
  if (r == nullptr) return {{"voxel", ""}, {"matrices", nullptr}, {"streamlines", nullptr}};
  return {{"voxel", has_voxel_details(data_.analysis()) ? data_.analysis() : ""},
          {"matrices", describe_matrices(*r)},
          {"streamlines", describe_streamlines(*r)}};
}

http_answer result_details::describe_voxel(std::uint64_t voxel) {
  const result_reader& r = *data_.result();
  if (!voxels_)
    voxels_ = data_.analysis() == "perfusion" ? make_perfusion_details(r) : make_ballstick_details(r, grid_);
  return json_answer(voxels_->describe(grid_.in_file(voxel)));
}

std::optional<http_answer> result_details::answer(const std::string& target) {
  const result_reader* r = data_.result();
  if (r == nullptr) return std::nullopt;
  const std::uint64_t voxels = grid_.grid().voxel_count();
  if (target.starts_with(voxel_address) && has_voxel_details(data_.analysis()))
    return describe_voxel(number_after(target, voxel_address, voxels));
  if (target.starts_with(matrix_address))
    return binary_answer(send_matrix(*r, number_after(target, matrix_address, max_matrix_regions)));
  if (!has_streamlines(*r)) return std::nullopt;
  if (target.starts_with(streamline_address))
    return binary_answer(send_streamlines(*r, grid_, number_after(target, streamline_address, max_streamlines + 1)));
  if (target.starts_with(ray_address))
    return binary_answer(send_rays(*r, grid_, grid_.in_file(number_after(target, ray_address, voxels))));
  return std::nullopt;
}

}  // namespace voxherd::view
