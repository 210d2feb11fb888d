#include "src/analyses/geodesic/seeding.hpp"

#include <Random123/philox.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/option_list.hpp"
#include "kernels/portable/symmetric_eigen3.hpp"
#include "src/io/fingerprint.hpp"
#include "src/io/number_table.hpp"
#include "src/scan/grid_space.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

using geodesic::seed;
using tensor_field::tensor_image;

std::uint64_t linear_index(const tensor_image& image, std::uint64_t i, std::uint64_t j, std::uint64_t k) {
  return (k * image.size[1] + j) * image.size[0] + i;
}

/// The voxel that contains a point; none outside the image.
bool find_voxel(const tensor_image& image, const vector3& p, std::uint64_t& voxel) {
  std::uint64_t at[3];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double nearest = std::floor(p[axis] + 0.5);
    if (!(nearest >= 0 && nearest < static_cast<double>(image.size[axis]))) return false;
    at[axis] = static_cast<std::uint64_t>(nearest);
  }
  voxel = linear_index(image, at[0], at[1], at[2]);
  return true;
}

void keep_between_centres(const tensor_image& image, vector3& p) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    p[axis] = std::clamp(p[axis], 0.0, static_cast<double>(image.size[axis] - 1));
}

/// Linear interpolation over the voxels inside, whose weights are made to sum to 1.
void tensor_at(const tensor_image& image, const vector3& p, double (&d)[6]) {
  std::fill(d, d + 6, 0.0);
  std::uint64_t low[3];
  double part[3];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis] = static_cast<std::uint64_t>(p[axis]);
    part[axis] = p[axis] - static_cast<double>(low[axis]);
  }
  double sum = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::uint64_t at[3];
    for (unsigned axis = 0; axis < 3; ++axis) {
      const unsigned up = corner >> axis & 1U;
      weight *= up != 0 ? part[axis] : 1 - part[axis];
      at[axis] = low[axis] + up;
    }
    if (weight == 0) continue;  // also if the corner is outside the image
    const std::uint64_t v = linear_index(image, at[0], at[1], at[2]);
    if (image.inside[v] == 0) continue;
    sum += weight;
    for (std::size_t c = 0; c < 6; ++c) d[c] += weight * static_cast<double>(image.tensor[6 * v + c]);
  }
  for (double& x : d) x /= sum;
}

seed seed_at(const tensor_image& image, const vector3& p) {
  seed s{};
  std::copy(p.begin(), p.end(), s.voxel);
  double d[6];
  tensor_at(image, p, d);
  const auto e = symmetric_eigen3(d[0], d[1], d[2], d[3], d[4], d[5]);
  const double* axis = e.vector[0];
  const double* largest =
      std::max_element(axis, axis + 3, [](double a, double b) { return std::abs(a) < std::abs(b); });
  const double sign = *largest < 0 ? -1 : 1;
  for (int i = 0; i < 3; ++i) s.axis[i] = static_cast<float>(sign * axis[i]);
  return s;
}

/// Position of a seed in its voxel, -1/2 to 1/2.
vector3 random_offset(std::uint64_t random_seed, std::uint64_t voxel, std::uint32_t number) {
  // A separate word keeps these draws distinct from those of the directions, which are counted by fibres.
  constexpr std::uint32_t place_of_a_seed = 0x5eed5eed;
  const philox4x32_ctr_t counter = {
      {number, place_of_a_seed, static_cast<std::uint32_t>(voxel), static_cast<std::uint32_t>(voxel >> 32)}};
  const philox4x32_key_t key = {
      {static_cast<std::uint32_t>(random_seed), static_cast<std::uint32_t>(random_seed >> 32)}};
  const philox4x32_ctr_t words = philox4x32(counter, key);
  vector3 offset;
  for (std::size_t axis = 0; axis < 3; ++axis)
    offset[axis] = (static_cast<double>(words.v[axis]) + 0.5) / 4294967296.0 - 0.5;
  return offset;
}

std::vector<vector3> grid_offsets(std::uint32_t n) {
  std::vector<vector3> offsets;
  for (std::uint32_t k = 0; k < n; ++k)
    for (std::uint32_t j = 0; j < n; ++j)
      for (std::uint32_t i = 0; i < n; ++i)
        offsets.push_back({(i + 0.5) / n - 0.5, (j + 0.5) / n - 0.5, (k + 0.5) / n - 0.5});
  return offsets;
}

}  // namespace

seed_list seeds_in_voxels(const std::vector<std::uint64_t>& voxels, const tensor_image& image,
                          const seeding_settings& how) {
  const std::vector<vector3> regular = grid_offsets(how.kind == seeding_kind::grid ? how.per_voxel : 1);
  const std::size_t count = how.kind == seeding_kind::random ? how.per_voxel : regular.size();
  seed_list list;
  std::vector<std::uint64_t> inside;
  for (const std::uint64_t v : voxels) {
    if (image.inside[v] != 0) inside.push_back(v);
  }
  list.outside = count * (voxels.size() - inside.size());
  list.seeds.resize(count * inside.size());
#pragma omp parallel for
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const std::uint64_t v = inside[i];
    const vector3 center = {static_cast<double>(v % image.size[0]),
                            static_cast<double>(v / image.size[0] % image.size[1]),
                            static_cast<double>(v / (image.size[0] * image.size[1]))};
    for (std::size_t n = 0; n < count; ++n) {
      const vector3 offset = how.kind == seeding_kind::random
                                 ? random_offset(how.random_seed, v, static_cast<std::uint32_t>(n))
                                 : regular[n];
      vector3 p = {center[0] + offset[0], center[1] + offset[1], center[2] + offset[2]};
      keep_between_centres(image, p);
      list.seeds[count * i + n] = seed_at(image, p);
    }
  }
  return list;
}

seed_list seeds_at_points(const std::vector<double>& points_mm, const tensor_image& image, const image_grid& grid) {
  const grid_space space(grid);
  std::vector<vector3> places;
  for (std::size_t i = 0; i + 2 < points_mm.size(); i += 3)
    places.push_back(space.to_index({points_mm[i], points_mm[i + 1], points_mm[i + 2]}));
  return seeds_at_places(places, image);
}

seed_list seeds_at_places(const std::vector<vector3>& places, const tensor_image& image) {
  seed_list list;
  std::vector<std::uint64_t> voxels;
  std::vector<seed> seeds;
  for (vector3 p : places) {
    std::uint64_t v = 0;
    if (!find_voxel(image, p, v) || image.inside[v] == 0) {
      ++list.outside;
      continue;
    }
    keep_between_centres(image, p);
    voxels.push_back(v);
    seeds.push_back(seed_at(image, p));
  }
  std::vector<std::size_t> order(seeds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return voxels[a] < voxels[b]; });
  for (const std::size_t i : order) list.seeds.push_back(seeds[i]);
  return list;
}

namespace {

seed_list from_points(const std::string& path, const tensor_source& tensors) {
  const number_table table = read_number_table(path);
  if (table.columns != 3)
    refuse_data("{}: line {}: found {} values, expected 3: x y z in world mm", table.name, table.row_line.front(),
                table.columns);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (!std::isfinite(table.values[i]))
      refuse_data("{}: line {}: found {}, expected a finite number of mm", table.name, table.row_line[i / 3],
                  table.values[i]);
  }
  return seeds_at_points(table.values, tensors.image, tensors.grid);
}

seed_list from_image(const std::string& path, const seeding_settings& how, const tensor_source& tensors) {
  const label_image image = read_labels(path, tensors.grid, how.labels.empty() ? label_kind::mask : label_kind::labels);
  check_labels(image, how.labels, "seed-labels");
  const auto voxels = image.voxels_with(how.labels);
  const double per_voxel = how.kind == seeding_kind::grid ? std::pow(how.per_voxel, 3) : how.per_voxel;
  constexpr double max_seeds = 1e9;
  if (static_cast<double>(voxels.size()) * per_voxel > max_seeds)
    refuse_usage("--seeds-per-voxel {}: {} voxels would have {:.3g} seeds, expected at most {:.0e}", how.per_voxel,
                 voxels.size(), static_cast<double>(voxels.size()) * per_voxel, max_seeds);
  seed_list list = seeds_in_voxels(voxels, tensors.image, how);
  list.voxels = voxels.size();
  return list;
}

void refuse_positions_in_voxels(const std::string& path, const seeding_settings& how) {
  if (how.kind != seeding_kind::center)
    refuse_usage("--seeding random and grid have no meaning with the surface {}, whose vertices are seeds", path);
}

}  // namespace

std::vector<geodesic::seed> read_seeds(const std::string& points_file, const std::string& image_file,
                                       const seeding_settings& how, const tensor_source& tensors, region_reader& reader,
                                       nlohmann::json& provenance) {
  const bool points = !points_file.empty(), surface = !points && is_surface_mask(image_file);
  const std::string& path = points ? points_file : image_file;
  nlohmann::json& input = provenance[points ? "seed-points" : "seed-image"] = fingerprint(path);
  seed_list list;
  if (surface) {
    refuse_positions_in_voxels(path, how);
    list = seeds_at_places(reader.read_vertices(path, how.labels, "seed-labels", input), tensors.image);
  } else {
    list = points ? from_points(path, tensors) : from_image(path, how, tensors);
  }
  if (!points && !surface) input["voxels"] = list.voxels;
  const std::size_t asked = list.seeds.size() + list.outside;
  if (list.seeds.empty())
    refuse_data("{}: none of {} seeds is at a voxel with a tensor; is it in world mm (RAS+), and of this subject?",
                path, asked);
  if (list.outside > 0)
    spdlog::info("{}: {} of {} seeds are at voxels without a tensor; ignored", path, list.outside, asked);
  return std::move(list.seeds);
}

}  // namespace voxherd
