#include "src/analyses/track/spaces.hpp"

#include <fmt/core.h>

#include <cmath>

#include "core/failure.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/number_table.hpp"

namespace voxherd {

namespace {

/// From voxels to FSL's millimetres: the voxel's number times its size.
voxel_map to_fsl_mm(const fsl_grid& grid) {
  voxel_map map;
  for (std::size_t d = 0; d < 3; ++d) map.axes[4 * d] = grid.voxel_size_mm[d];
  return map;
}

/// A matrix of FLIRT.
voxel_map read_flirt_matrix(const std::string& path) {
  const number_table t = read_number_table(path);
  const auto refuse = [&](const std::string& found) {
    throw failure(
        exit_status::bad_data,
        fmt::format("--xfm {}: {}, expected a matrix of FLIRT (4 x 4 numbers, the last row 0 0 0 1)", t.name, found));
  };
  if (t.rows != 4 || t.columns != 4) refuse(fmt::format("has {} x {} numbers", t.rows, t.columns));
  for (std::size_t k = 0; k < 4; ++k)
    if (t.at(3, k) != (k == 3 ? 1 : 0)) refuse(fmt::format("has {} in row 4 column {}", t.at(3, k), k + 1));
  voxel_map map;
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::size_t k = 0; k < 3; ++k) map.axes[3 * d + k] = t.at(d, k);
    map.origin[d] = t.at(d, 3);
  }
  const double size = determinant(map.axes);
  if (!std::isfinite(size + map.origin[0] + map.origin[1] + map.origin[2]) || std::abs(size) < 1e-6)
    refuse(fmt::format("its determinant is {:.3g}", size));
  return map;
}

/// Numbers whose difference from a round one is only that of their computation.
double without_noise(double x) { return std::round(x * 1e9) / 1e9; }

}  // namespace

vector3 voxel_map::operator()(const vector3& v) const {
  vector3 to{};
  for (std::size_t d = 0; d < 3; ++d)
    to[d] = axes[3 * d] * v[0] + axes[3 * d + 1] * v[1] + axes[3 * d + 2] * v[2] + origin[d];
  return to;
}

voxel_map voxel_map::inverse() const {
  voxel_map back{voxherd::inverse(axes), {}};
  const vector3 moved = back(origin);
  for (std::size_t d = 0; d < 3; ++d) back.origin[d] = -moved[d];
  return back;
}

bool voxel_map::is_identity() const {
  const track::point_map map = rounded();
  for (int d = 0; d < 3; ++d)
    for (int k = 0; k < 4; ++k)
      if (map.rows[d][k] != (d == k ? 1 : 0)) return false;
  return true;
}

track::point_map voxel_map::rounded() const {
  track::point_map map;
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::size_t k = 0; k < 3; ++k) map.rows[d][k] = static_cast<float>(without_noise(axes[3 * d + k]));
    map.rows[d][3] = static_cast<float>(without_noise(origin[d]));
  }
  return map;
}

voxel_map product(const voxel_map& first, const voxel_map& second) {
  return {product(second.axes, first.axes), second(first.origin)};
}

voxel_map map_by_world(const image_grid& from, const image_grid& to) {
  const auto to_world = [](const image_grid& grid) {
    const grid_space space(grid);
    return voxel_map{space.axes_mm, space.origin_mm};
  };
  return product(to_world(from), to_world(to).inverse());
}

track_space read_track_space(const track_request& request, const fsl_grid& samples, nlohmann::json& provenance) {
  track_space space;
  space.grid = samples;
  if (request.reference.empty() && request.transform.empty()) return space;
  const std::vector<std::string>& seeds = request.connectome.empty() ? request.seed_image : request.connectome;
  const nifti_header image = read_nifti_header(request.reference.empty() ? seeds.front() : request.reference);
  space.grid = fsl_grid(image);
  space.is_separate = true;
  provenance["image"] = image.geometry;
  if (!request.reference.empty()) provenance["seedref"] = fingerprint(request.reference);
  if (request.transform.empty()) {
    space.to_samples = map_by_world(space.grid, samples);
  } else {
    provenance["xfm"] = fingerprint(request.transform);
    space.to_samples =
        product(product(to_fsl_mm(space.grid), read_flirt_matrix(request.transform)), to_fsl_mm(samples).inverse());
  }
  space.to_seeds = space.to_samples.inverse();
  return space;
}

}  // namespace voxherd
