#include "src/commands/path_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "core/failure.hpp"
#include "src/export/fibres.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/image_checks.hpp"

namespace voxherd {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

nifti_header read_image_header(const std::string& path) {
  nifti_header header = read_nifti_header(path);
  if (header.volumes != 1) refuse_data("{}: has {} volumes, expected an image of one", path, header.volumes);
  return header;
}

using point_list = std::span<const float>;  ///< x, y, z of each point, world mm

vector3 point_at(point_list points, std::size_t i) {
  return {static_cast<double>(points[3 * i]), static_cast<double>(points[3 * i + 1]),
          static_cast<double>(points[3 * i + 2])};
}

/// Lengths of the path from its first point to each one.
std::vector<double> path_lengths(point_list points) {
  std::vector<double> length(points.size() / 3);
  for (std::size_t i = 1; i < length.size(); ++i) {
    const vector3 a = point_at(points, i - 1), b = point_at(points, i);
    length[i] = length[i - 1] + std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
  }
  return length;
}

/// The mean along the points [first, last]: each has half of the length to its neighbours.
double mean_along(point_list points, const std::vector<double>& length, std::size_t first, std::size_t last,
                  const statistic_image& image) {
  weighted_values values;
  for (std::size_t i = first; i <= last; ++i) {
    const double own = (length[std::min(i + 1, last)] - length[std::max(i, first + 1) - 1]) / 2;
    values.add(image.at(point_at(points, i)), first == last ? 1 : own);
  }
  return values.mean();
}

/// The point at a length from the beginning, which rounding of positions may move by less than half a step.
std::size_t find_point(const std::vector<double>& length, double mm) {
  std::size_t i = 0;
  while (i + 1 < length.size() && std::abs(length[i + 1] - mm) <= std::abs(length[i] - mm)) ++i;
  return i;
}

/// Empty for results of versions that stored only lengths.
std::vector<std::uint32_t> read_starts(const result_reader& r) {
  return r.has("start") ? read_start_points(r) : std::vector<std::uint32_t>{};
}

}  // namespace

statistic_image::statistic_image(const std::string& path) : statistic_image(read_image_header(path)) {}

statistic_image::statistic_image(const nifti_header& header)
    : name_(image_name(header.path)), grid_(header.grid), space_(grid_), values_(read_volume(header)) {}

double statistic_image::at(const vector3& world_mm) const {
  const auto voxel = find_voxel(grid_, space_.to_index(world_mm));
  return voxel ? static_cast<double>(values_[*voxel]) : none;
}

std::vector<statistic_image> read_statistic_images(const std::vector<std::string>& paths) {
  std::vector<statistic_image> images;
  for (const std::string& path : paths) {
    images.emplace_back(path);
    for (std::size_t i = 0; i + 1 < images.size(); ++i)
      if (images[i].name() == images.back().name())
        refuse_usage("--statistics-of: two images are called {}, by which their columns are named", images[i].name());
  }
  return images;
}

void weighted_values::add(double value, double weight) {
  if (std::isfinite(value) && weight > 0) values_.emplace_back(value, weight);
}

double weighted_values::mean() const {
  double sum = 0, weights = 0;
  for (const auto& [value, weight] : values_) sum += weight * value, weights += weight;
  return weights > 0 ? sum / weights : none;
}

double weighted_values::median() const {
  std::vector<std::pair<double, double>> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  double all = 0, before = 0;
  for (const auto& [value, weight] : sorted) all += weight;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    before += sorted[i].second;
    if (2 * before == all && i + 1 < sorted.size()) return (sorted[i].first + sorted[i + 1].first) / 2;
    if (2 * before >= all) return sorted[i].first;
  }
  return none;
}

tract_voxels::tract_voxels(const image_grid& grid, std::vector<float> density, double min_density)
    : grid_(grid), space_(grid), density_(std::move(density)) {
  for (std::uint64_t v = 0; v < density_.size(); ++v)
    if (density_[v] > 0 && static_cast<double>(density_[v]) >= min_density) voxels_.push_back(v);
}

double tract_voxels::volume_mm3() const {
  return std::abs(determinant(space_.axes_mm)) * static_cast<double>(voxels_.size());
}

weighted_values tract_voxels::sample(const statistic_image& image) const {
  weighted_values values;
  for (const std::uint64_t v : voxels_)
    values.add(image.at(space_.to_world(voxel_position(grid_, v))), static_cast<double>(density_[v]));
  return values;
}

path_table measure_paths(const result_reader& result, const std::vector<statistic_image>& images) {
  std::vector<std::uint64_t> all(result.item_voxels().size());
  std::iota(all.begin(), all.end(), 0);
  const result_fibres paths(result, std::move(all));
  const std::optional<joined_regions> joined = find_joined_regions(paths);
  path_table table{joined.has_value(), joined && joined->has_halves, {}};
  const std::vector<std::uint32_t> starts = table.has_halves ? read_starts(result) : std::vector<std::uint32_t>{};
  std::vector<float> first_half_mm;
  if (table.has_halves && starts.empty()) first_half_mm = result.read_items("first_half", 0, paths.fibres(), 1);
  for_each_piece(paths, [&](const fibre_piece& piece) {
    std::vector<float> points(3 * piece.points);
    paths.read_positions(piece.first_point, points);
    for (std::uint64_t f = piece.first_fibre; f < piece.first_fibre + piece.fibres; ++f) {
      const std::uint64_t begin = paths.offsets()[f], end = paths.offsets()[f + 1];
      if (begin == end) continue;
      const point_list own = point_list(points).subspan(3 * (begin - piece.first_point), 3 * (end - begin));
      const std::vector<double> length = path_lengths(own);
      const auto add = [&](region_pair regions, std::size_t first, std::size_t last) {
        path_row row{f, regions, length[last] - length[first], {}};
        for (const statistic_image& image : images) row.means.push_back(mean_along(own, length, first, last, image));
        table.rows.push_back(std::move(row));
      };
      const std::size_t last = length.size() - 1;
      if (!table.has_halves) {
        add(joined ? joined->of_fibre[f][0] : region_pair{}, 0, last);
        continue;
      }
      const std::size_t start = starts.empty() ? find_point(length, static_cast<double>(first_half_mm[f])) : starts[f];
      for (std::size_t i = 0; i < joined->of_fibre[f].size(); ++i) {
        const region_pair& regions = joined->of_fibre[f][i];
        if (regions[1] == 0) continue;
        joined->half_of_pair[f][i] == 0 ? add(regions, 0, start) : add(regions, start, last);
      }
    }
  });
  return table;
}

}  // namespace voxherd
