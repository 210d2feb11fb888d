#include "src/scan/white_matter.hpp"

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

/// The voxels of an image and those that share a face with them. Looked up for millions of voxels: without divisions.
class face_neighbours {
 public:
  explicit face_neighbours(const image_size& size)
      : strides_{1, size[0], size[0] * size[1]}, faces_(size[0] * size[1] * size[2]) {
    std::uint64_t v = 0;
    for (std::uint64_t z = 0; z < size[2]; ++z)
      for (std::uint64_t y = 0; y < size[1]; ++y)
        for (std::uint64_t x = 0; x < size[0]; ++x, ++v)
          faces_[v] = static_cast<std::uint8_t>(bits(0, x, size[0]) | bits(1, y, size[1]) | bits(2, z, size[2]));
  }

  template <class Visit>
  void each(std::uint64_t voxel, const Visit& visit) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if ((faces_[voxel] & bit(axis, 0)) != 0) visit(voxel - strides_[axis]);
      if ((faces_[voxel] & bit(axis, 1)) != 0) visit(voxel + strides_[axis]);
    }
  }

  bool is_at_side(std::uint64_t voxel) const { return faces_[voxel] != 0b111111; }

 private:
  static unsigned bit(std::size_t axis, unsigned side) { return 1u << (2 * axis + side); }
  static unsigned bits(std::size_t axis, std::uint64_t at, std::uint64_t size) {
    return (at > 0 ? bit(axis, 0) : 0) | (at + 1 < size ? bit(axis, 1) : 0);
  }

  std::array<std::uint64_t, 3> strides_;
  std::vector<std::uint8_t> faces_;
};

/// Calls visit(voxel) for the part of `m` that is connected to a voxel by faces; it is removed from `m`.
template <class Visit>
void take_part(const face_neighbours& at_face, std::uint64_t first, mask& m, const Visit& visit) {
  std::vector<std::uint64_t> front{first}, next;
  m[first] = 0;
  while (!front.empty()) {
    next.clear();
    for (const std::uint64_t v : front) {
      visit(v);
      at_face.each(v, [&](std::uint64_t beside) {
        if (m[beside] == 0) return;
        m[beside] = 0;
        next.push_back(beside);
      });
    }
    front.swap(next);
  }
}

mask largest_part(const face_neighbours& at_face, mask m) {
  std::vector<std::uint64_t> largest, part;
  for (std::uint64_t v = 0; v < m.size(); ++v) {
    if (m[v] == 0) continue;
    part.clear();
    take_part(at_face, v, m, [&](std::uint64_t inside) { part.push_back(inside); });
    if (part.size() > largest.size()) largest.swap(part);
  }
  for (const std::uint64_t v : largest) m[v] = 1;  // take_part() has emptied it
  return m;
}

/// Without the voxels that share a face with the outside: with what is connected to the sides of the image.
mask without_rim(const face_neighbours& at_face, const mask& inside) {
  mask free(inside.size()), kept = inside;
  for (std::uint64_t v = 0; v < free.size(); ++v) free[v] = inside[v] == 0 ? 1 : 0;
  for (std::uint64_t v = 0; v < free.size(); ++v)
    if (free[v] != 0 && at_face.is_at_side(v))
      take_part(at_face, v, free,
                [&](std::uint64_t outside) { at_face.each(outside, [&](std::uint64_t beside) { kept[beside] = 0; }); });
  return kept;
}

/// Adds up three neighbours along one axis, as many as there are.
std::vector<std::uint8_t> add_neighbours(const image_size& size, std::size_t axis, const std::vector<std::uint8_t>& m) {
  std::uint64_t stride = 1;
  for (std::size_t a = 0; a < axis; ++a) stride *= size[a];
  std::vector<std::uint8_t> sum = m;
  const std::uint64_t line = stride * size[axis];
  for (std::uint64_t first = 0; first < m.size(); first += line)
    for (std::uint64_t v = first + stride; v < first + line; ++v) {
      sum[v] = static_cast<std::uint8_t>(sum[v] + m[v - stride]);
      sum[v - stride] = static_cast<std::uint8_t>(sum[v - stride] + m[v]);
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
  const face_neighbours at_face(image.size);
  const mask candidates = qualify(image, without_rim(at_face, image.inside), {min_FA, max_white_matter_MD_mm2_per_s});
  return largest_part(at_face, without_bridges(image.size, candidates));
}

std::vector<std::uint8_t> keep_white_matter(const tensor_field::tensor_image& image, double min_FA) {
  mask white = find_white_matter(image, min_FA);
  const std::int64_t all = count(image.inside), kept = count(white);
  if (kept == 0) {
    constexpr double any_MD = HUGE_VAL;
    refuse_data(
        "--within-fa {}: no white matter: of {} voxels with a tensor {} have at least this FA and {} an MD below {} "
        "mm2/s; give a smaller FA, or a mask as --within",
        min_FA, all, count(qualify(image, image.inside, {min_FA, any_MD})),
        count(qualify(image, image.inside, {0, max_white_matter_MD_mm2_per_s})), max_white_matter_MD_mm2_per_s);
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
