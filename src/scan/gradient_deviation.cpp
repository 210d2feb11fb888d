#include "src/scan/gradient_deviation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "mpi/run/staged_input.hpp"
#include "src/scan/grid_space.hpp"

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
  throw failure(
      exit_status::bad_data,
      fmt::format("{}: the diagonal is about 0 in {} % of the voxels and about 1 in {} %, expected one of them "
                  "nearly everywhere: deviations as HCP stores them, or matrices as QSIPrep does",
                  printable(map.path), zeros, ones));
}

deviation_reader::deviation_reader(deviation_form form, const image_grid& grid)
    : has_identity_(form == deviation_form::with_identity), reverses_x_(has_identity_ && is_right_handed(grid)) {}

void deviation_reader::operator()(float* matrix) const {
  if (has_identity_)
    for (const int diagonal : {0, 4, 8}) matrix[diagonal] -= 1;
  if (reverses_x_)
    for (const int with_x : {1, 2, 3, 6}) matrix[with_x] = -matrix[with_x];  // one of the two axes is x
}

const char* deviation_form_name(deviation_form form) {
  return form == deviation_form::with_identity ? "I + L (QSIPrep, TORTOISE)" : "L (HCP, FSL)";
}

deviation_form stored_deviation_form(const nlohmann::json& input) {
  const bool with = input.value("form", "") == deviation_form_name(deviation_form::with_identity);
  return with ? deviation_form::with_identity : deviation_form::without_identity;
}

}  // namespace voxherd
