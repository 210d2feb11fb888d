#include "src/scan/white_matter.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "kernels/tensor_field/prepare_voxel.hpp"

namespace voxherd {

namespace {

using mask = std::vector<std::uint8_t>;  // (nz, ny, nx)
using image_size = std::array<std::uint64_t, 3>;

/// Calls visit(voxel) for the neighbours of a voxel that share a face with it.
template <class Visit>
void each_at_face(const image_size& size, std::uint64_t voxel, const Visit& visit) {
  std::uint64_t stride = 1;
  for (const std::uint64_t n : size) {
    const std::uint64_t at = voxel / stride % n;
    if (at > 0) visit(voxel - stride);
    if (at + 1 < n) visit(voxel + stride);
    stride *= n;
  }
}

bool is_at_side(const image_size& size, std::uint64_t voxel) {
  int faces = 0;
  each_at_face(size, voxel, [&](std::uint64_t) { ++faces; });
  return faces < 6;
}

/// The part of `m` that is connected to a voxel by faces; it is removed from `m`.
std::vector<std::uint64_t> take_part(const image_size& size, std::uint64_t first, mask& m) {
  std::vector<std::uint64_t> part{first};
  m[first] = 0;
  for (std::size_t i = 0; i < part.size(); ++i)
    each_at_face(size, part[i], [&](std::uint64_t v) {
      if (m[v] == 0) return;
      m[v] = 0;
      part.push_back(v);
    });
  return part;
}

mask largest_part(const image_size& size, mask m) {
  std::vector<std::uint64_t> largest;
  for (std::uint64_t v = 0; v < m.size(); ++v) {
    if (m[v] == 0) continue;
    std::vector<std::uint64_t> part = take_part(size, v, m);
    if (part.size() > largest.size()) largest = std::move(part);
  }
  for (const std::uint64_t v : largest) m[v] = 1;  // take_part() has emptied it
  return m;
}

/// Without the voxels that share a face with the outside: with what is connected to the sides of the image.
mask without_rim(const image_size& size, const mask& inside) {
  mask free(inside.size()), kept = inside;
  for (std::uint64_t v = 0; v < free.size(); ++v) free[v] = inside[v] == 0 ? 1 : 0;
  for (std::uint64_t v = 0; v < free.size(); ++v) {
    if (free[v] == 0 || !is_at_side(size, v)) continue;
    for (const std::uint64_t outside : take_part(size, v, free))
      each_at_face(size, outside, [&](std::uint64_t beside) { kept[beside] = 0; });
  }
  return kept;
}

/// Adds up three neighbours along one axis, as many as there are.
std::vector<std::uint8_t> add_neighbours(const image_size& size, std::size_t axis, const std::vector<std::uint8_t>& m) {
  std::uint64_t stride = 1;
  for (std::size_t a = 0; a < axis; ++a) stride *= size[a];
  std::vector<std::uint8_t> sum = m;
  for (std::uint64_t v = 0; v < m.size(); ++v) {
    const std::uint64_t at = v / stride % size[axis];
    if (at > 0) sum[v] = static_cast<std::uint8_t>(sum[v] + m[v - stride]);
    if (at + 1 < size[axis]) sum[v] = static_cast<std::uint8_t>(sum[v] + m[v + stride]);
  }
  return sum;
}

std::vector<std::uint8_t> count_around(const image_size& size, std::vector<std::uint8_t> m) {
  for (std::size_t axis = 0; axis < 3; ++axis) m = add_neighbours(size, axis, m);
  return m;
}

/// Those around which at least half of the voxels are too.
mask without_bridges(const image_size& size, mask m) {
  const std::vector<std::uint8_t> near = count_around(size, m), all = count_around(size, mask(m.size(), 1));
  for (std::uint64_t v = 0; v < m.size(); ++v)
    if (2 * near[v] < all[v]) m[v] = 0;
  return m;
}

struct tensor_limits {
  double min_FA, max_MD_mm2_per_s;
};

float anisotropy(const float* d) {
  return tensor_field::prepare::fractional_anisotropy({d[0], d[1], d[2], d[3], d[4], d[5]});
}

mask qualify(const tensor_field::tensor_image& image, mask m, const tensor_limits& limits) {
  for (std::uint64_t v = 0; v < m.size(); ++v) {
    if (m[v] == 0) continue;
    const float* d = image.tensor.data() + 6 * v;  // xx, xy, xz, yy, yz, zz
    const double MD = (static_cast<double>(d[0]) + static_cast<double>(d[3]) + static_cast<double>(d[5])) / 3;
    if (static_cast<double>(anisotropy(d)) < limits.min_FA || MD >= limits.max_MD_mm2_per_s) m[v] = 0;
  }
  return m;
}

std::int64_t count(const mask& m) { return std::count(m.begin(), m.end(), 1); }

}  // namespace

std::vector<float> measured_FA(const tensor_field::tensor_image& image, const std::vector<std::uint64_t>& voxels) {
  std::vector<float> FA(voxels.size());
  for (std::size_t n = 0; n < FA.size(); ++n) FA[n] = anisotropy(image.tensor.data() + 6 * voxels[n]);
  return FA;
}

std::vector<std::uint8_t> find_white_matter(const tensor_field::tensor_image& image, double min_FA) {
  const mask candidates =
      qualify(image, without_rim(image.size, image.inside), {min_FA, max_white_matter_MD_mm2_per_s});
  return largest_part(image.size, without_bridges(image.size, candidates));
}

std::vector<std::uint8_t> keep_white_matter(const tensor_field::tensor_image& image, double min_FA) {
  mask white = find_white_matter(image, min_FA);
  const std::int64_t all = count(image.inside), kept = count(white);
  if (kept == 0) {
    constexpr double any_MD = HUGE_VAL;
    throw failure(
        exit_status::bad_data,
        fmt::format("--within-fa {}: no white matter: of {} voxels with a tensor {} have at least this FA and {} "
                    "an MD below {} mm2/s; give a smaller FA, or a mask as --within",
                    min_FA, all, count(qualify(image, image.inside, {min_FA, any_MD})),
                    count(qualify(image, image.inside, {0, max_white_matter_MD_mm2_per_s})),
                    max_white_matter_MD_mm2_per_s));
  }
  spdlog::info("--within-fa {}: white matter has {} of {} voxels with a tensor", min_FA, kept, all);
  return white;
}

double part_outside(const std::vector<std::uint8_t>& white_matter, std::span<const std::uint64_t> voxels) {
  const auto outside =
      std::count_if(voxels.begin(), voxels.end(), [&](std::uint64_t v) { return white_matter[v] == 0; });
  return voxels.empty() ? 0 : static_cast<double>(outside) / static_cast<double>(voxels.size());
}

}  // namespace voxherd
