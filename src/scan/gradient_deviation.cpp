#include "src/scan/gradient_deviation.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "mpi/run/staged_input.hpp"
#include "src/io/nifti/storage_order.hpp"

namespace voxherd {

namespace {

/// Mean diagonal of each voxel's matrix.
std::vector<float> read_mean_diagonals(const nifti_header& map, const std::vector<std::uint64_t>& voxels) {
  std::vector<float> volume(map.grid.voxel_count()), mean(voxels.size());
  nifti_reader reader(map);
  for (const std::uint64_t diagonal : {0, 4, 8}) {
    throw_if_stopped();
    reader.read(diagonal, 0, volume.size(), volume.data());
    for (std::size_t i = 0; i < voxels.size(); ++i) mean[i] += volume[voxels[i]] / 3;
  }
  return mean;
}

}  // namespace

deviation_form find_deviation_form(const nifti_header& map, const std::vector<std::uint64_t>& voxels) {
  // Gradients deviate by some per cent, at the edge of a head coil by up to 40. A map in per cent fits neither form.
  constexpr float tolerance = 0.5F;
  constexpr std::size_t percent_needed = 90;  // voxels outside of the coil's model may have any value
  const std::vector<float> diagonals = read_mean_diagonals(map, voxels);
  const auto percent_about = [&](float value) {
    const auto near = [&](float d) { return std::abs(d - value) < tolerance; };
    return 100 * static_cast<std::size_t>(std::count_if(diagonals.begin(), diagonals.end(), near)) / diagonals.size();
  };
  const std::size_t zeros = percent_about(0), ones = percent_about(1);
  if (zeros >= percent_needed) return deviation_form::without_identity;
  if (ones >= percent_needed) return deviation_form::with_identity;
  refuse_data(
      "{}: the diagonal is about 0 in {} % of the voxels and about 1 in {} %, expected one of them nearly everywhere: "
      "deviations as HCP stores them, or matrices as QSIPrep does",
      map.path, zeros, ones);
}

deviation_reader::deviation_reader(deviation_form form, const image_grid& series, const storage_order& order)
    : has_identity_(form == deviation_form::with_identity) {
  const bool series_is_right_handed = is_right_handed(series);
  const bool map_is_right_handed = series_is_right_handed != order.is_mirrored();
  for (std::size_t d = 0; d < 3; ++d) {
    axis_[d] = order.stored_axis[d];
    if (order.is_reversed[d]) sign_[d] = -1;
  }
  // The bvecs' first axis is the image's, negated if this is right-handed; in the map that holds for L, not for I + L.
  if (series_is_right_handed) sign_[0] = -sign_[0];
  if (map_is_right_handed && !has_identity_)
    sign_[static_cast<std::size_t>(std::find(axis_.begin(), axis_.end(), 0) - axis_.begin())] *= -1;
  const bool keeps_signs = sign_[0] == sign_[1] && sign_[1] == sign_[2];
  is_as_stored_ = keeps_signs && axis_ == std::array<std::uint8_t, 3>{0, 1, 2};
}

void deviation_reader::operator()(float* matrix) const {
  if (has_identity_)
    for (const int diagonal : {0, 4, 8}) matrix[diagonal] -= 1;
  if (is_as_stored_) return;
  std::array<float, deviation_volumes> stored{};
  std::copy_n(matrix, stored.size(), stored.begin());
  for (std::size_t column = 0; column < 3; ++column)
    for (std::size_t row = 0; row < 3; ++row)
      matrix[3 * column + row] = sign_[row] * sign_[column] * stored[3u * axis_[column] + axis_[row]];
}

const char* deviation_form_name(deviation_form form) {
  return form == deviation_form::with_identity ? "I + L (QSIPrep, TORTOISE)" : "L (HCP, FSL)";
}

deviation_form stored_deviation_form(const nlohmann::json& input) {
  const bool with = input.value("form", "") == deviation_form_name(deviation_form::with_identity);
  return with ? deviation_form::with_identity : deviation_form::without_identity;
}

}  // namespace voxherd
