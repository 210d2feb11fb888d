#include "src/tools/view/result_details.hpp"

#include <fmt/core.h>

#include <string_view>

#include "core/failure.hpp"
#include "src/tools/view/chosen_fibres.hpp"
#include "src/tools/view/matrices.hpp"
#include "src/tools/view/streamlines.hpp"
#include "src/tools/view/traced_answer.hpp"
#include "src/tools/view/trx_answer.hpp"

namespace voxherd::view {

namespace {

constexpr std::string_view voxel_address = "/api/voxel/", matrix_address = "/api/matrix/",
                           streamline_address = "/api/streamlines/", ray_address = "/api/rays/",
                           traced_address = "/api/traced/", choice_address = "/api/streamlines",
                           trx_address = "/api/streamlines/trx";

bool has_voxel_details(const std::string& analysis) { return analysis == "perfusion" || analysis == "ballstick"; }

}  // namespace

result_details::result_details(const shown_data& data, const page_grid& grid, const label_image* regions,
                               const std::map<std::int32_t, std::string>& names, ray_tracer* tracer)
    : data_(data), grid_(grid), tracer_(tracer) {
  const result_reader* r = data.result();
  if (r != nullptr && has_streamlines(*r)) fibres_.emplace(*r, regions, names);
}

nlohmann::json result_details::describe() const {
  const result_reader* r = data_.result();
  if (r == nullptr) return {{"voxel", ""}, {"matrices", nullptr}, {"streamlines", nullptr}};
  nlohmann::json j{{"voxel", has_voxel_details(data_.analysis()) ? data_.analysis() : ""},
                   {"matrices", describe_matrices(*r)},
                   {"streamlines", describe_streamlines(*r)}};
  if (!fibres_) return j;
  j["streamlines"]["groupings"] = describe_groupings(fibres_->groupings());
  j["streamlines"]["can_trace"] = tracer_ != nullptr;
  return j;
}

http_answer result_details::describe_voxel(std::uint64_t voxel) {
  const result_reader& r = *data_.result();
  if (!voxels_)
    voxels_ = data_.analysis() == "perfusion" ? make_perfusion_details(r) : make_ballstick_details(r, grid_);
  return json_answer(voxels_->describe(grid_.in_file(voxel)));
}

http_answer result_details::save_trx(const fibre_choice& choice) {
  constexpr std::uint64_t max_points = 20'000'000;
  chosen_fibres chosen(*data_.result(), fibres_->choose(choice));
  if (chosen.points() > max_points)
    throw failure(exit_status::bad_data, fmt::format("{} points are more than the {} that the page saves; use voxherd "
                                                     "export, or choose fewer fibres",
                                                     chosen.points(), max_points));
  return binary_answer(make_trx(chosen));
}

http_answer result_details::trace_rays(std::uint64_t voxel) {
  if (tracer_ == nullptr) return not_found("only rays of geodesic can be traced");
  return binary_answer(send_traced(tracer_->trace(grid_.in_file(voxel)), static_cast<std::uint32_t>(voxel)));
}

std::optional<http_answer> result_details::answer_post(const http_request& request) {
  if (!fibres_) return std::nullopt;
  if (request.target == choice_address) {
    const fibre_choice choice = parse_fibre_choice(request.body);
    return binary_answer(send_streamlines(*data_.result(), grid_, fibres_->choose(choice),
                                          choice.count == 0 ? max_streamlines : choice.count));
  }
  if (request.target == trx_address) return save_trx(parse_fibre_choice(request.body));
  return std::nullopt;
}

std::optional<http_answer> result_details::answer_get(const std::string& target) {
  const result_reader& r = *data_.result();
  const std::uint64_t voxels = grid_.grid().voxel_count();
  if (target.starts_with(voxel_address) && has_voxel_details(data_.analysis()))
    return describe_voxel(number_after(target, voxel_address, voxels));
  if (target.starts_with(matrix_address))
    return binary_answer(send_matrix(r, number_after(target, matrix_address, max_matrix_regions)));
  if (!fibres_) return std::nullopt;
  if (target.starts_with(streamline_address))
    return binary_answer(
        send_streamlines(r, grid_, fibres_->fibres(), number_after(target, streamline_address, max_streamlines + 1)));
  if (target.starts_with(ray_address))
    return binary_answer(send_rays(r, grid_, grid_.in_file(number_after(target, ray_address, voxels))));
  if (target.starts_with(traced_address)) return trace_rays(number_after(target, traced_address, voxels));
  return std::nullopt;
}

std::optional<http_answer> result_details::answer(const http_request& request) {
  if (data_.result() == nullptr) return std::nullopt;
  return request.method == "GET" ? answer_get(request.target) : answer_post(request);
}

}  // namespace voxherd::view
