#pragma once

#include "kernels/tensor_field/prepare_recipe.hpp"

/// Steps of the preparation, each a callable for one voxel that reads and writes complete arrays. Between steps tensors
/// are stored in planes, one array of all voxels per element, so that neighbouring GPU threads read neighbouring
/// addresses.
namespace voxherd::tensor_field::prepare {

struct planes {
  float* first;
  std::size_t voxels;

  VOXHERD_FUNCTION float& at(int element, std::size_t i) const {
    assert(element >= 0 && i < voxels);
    return first[static_cast<std::size_t>(element) * voxels + i];
  }
  VOXHERD_FUNCTION tensor6 load(std::size_t i) const {
    return {at(0, i), at(1, i), at(2, i), at(3, i), at(4, i), at(5, i)};
  }
  VOXHERD_FUNCTION void store(std::size_t i, const tensor6& d) const {
    at(0, i) = d.xx, at(1, i) = d.xy, at(2, i) = d.xz;
    at(3, i) = d.yy, at(4, i) = d.yz, at(5, i) = d.zz;
  }
};

struct alignas(16) four_floats {
  float a, b, c, d;
};

/// Copies measured tensors to planes and classifies them.
struct cleaner {
  const float* measured;  ///< 6 per voxel
  const std::uint8_t* inside;
  planes to;
  tensor_state* state;
  float unit, least;

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    tensor_state s = tensor_state::absent;
    if (inside[i]) {
      const float* m = measured + std::size_t{6} * i;
      tensor6 d{unit * m[0], unit * m[1], unit * m[2], unit * m[3], unit * m[4], unit * m[5]};
      s = clean(d, least);
      if (is_measured(s)) to.store(i, d);
    }
    state[i] = s;
  }
};

/// One round of dilation: voxels without a tensor get the mean of those of their 26 neighbours that have one, in all
/// planes. In place: reads planes only where `before` has a tensor, and writes only where it has none.
template <int Elements>
struct filler {
  grid size;
  planes tensors;
  const tensor_state* before;
  tensor_state* after;
  bool last;                   ///< voxels still without a tensor get the background
  float background[Elements];  ///< isotropic

  VOXHERD_FUNCTION static bool has(tensor_state s) { return is_measured(s) || s == tensor_state::filled; }

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const tensor_state s = before[i];
    after[i] = s;
    if (has(s)) return;
    double sum[Elements] = {};  // exact: the mean of equal tensors is that tensor, to the bit
    const int count = gather(i, sum);
    if (count > 0) {
      for (int e = 0; e < Elements; ++e) tensors.at(e, i) = static_cast<float>(sum[e] / count);
      after[i] = tensor_state::filled;
    } else if (last) {
      for (int e = 0; e < Elements; ++e) tensors.at(e, i) = background[e];
    }
  }

 private:
  VOXHERD_FUNCTION int gather(std::uint32_t i, double (&sum)[Elements]) const {
    int x, y, z, count = 0;
    size.place(i, x, y, z);
    const int nx = static_cast<int>(size.nx), ny = static_cast<int>(size.ny), nz = static_cast<int>(size.nz);
    for (int c = z > 0 ? z - 1 : 0; c <= z + 1 && c < nz; ++c)
      for (int b = y > 0 ? y - 1 : 0; b <= y + 1 && b < ny; ++b)
        for (int a = x > 0 ? x - 1 : 0; a <= x + 1 && a < nx; ++a) {
          const std::size_t j = (std::size_t(c) * size.ny + std::size_t(b)) * size.nx + std::size_t(a);
          if (!has(before[j])) continue;
          ++count;
          VOXHERD_UNROLL
          for (int e = 0; e < Elements; ++e) sum[e] += tensors.at(e, j);
        }
    return count;
  }
};

/// The region word that a ray reads: `given`, or only `inside`; the flag `inside` is cleared without a valid tensor.
VOXHERD_FUNCTION inline std::uint32_t region_word(const std::uint32_t* given, std::uint32_t i, bool inside) {
  const std::uint32_t word = given ? given[i] : region::inside;
  return inside ? word : word & ~region::inside;
}

/// Applies the metric and writes the facts; writes either the finished field (tensor, world) or its tensors and metric
/// in planes (christoffel).
struct metric_applier {
  metric_rule metric;
  double to_index[9], axes_transposed[9];
  planes tensors;
  const std::uint8_t* inside;
  const std::uint32_t* regions;  ///< may be null
  voxel_facts* facts;
  field_kind kind;
  float* values;           ///< 8 per voxel: tensor, world
  planes fields, metrics;  ///< christoffel

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    const tensor6 d = tensors.load(i);
    const effective e = metric(d);
    facts[i] = {fractional_anisotropy(d), std::sqrt(e.largest), region_word(regions, i, inside[i] != 0), 0};
    const auto t = cast<float>(kind == field_kind::world ? e.tensor : sandwiched(to_index, e.tensor));
    if (kind == field_kind::christoffel) {
      fields.store(i, t);
      metrics.store(i, cast<float>(sandwiched(axes_transposed, e.metric)));
    } else {
      auto* out = reinterpret_cast<four_floats*>(values + std::size_t{8} * i);
      out[0] = {t.xx, t.xy, t.xz, t.yy};
      out[1] = {t.yz, t.zz, 0, 0};
    }
  }
};

/// Derivatives of the metric with respect to the index: central differences, second-order one-sided ones at the
/// volume's faces.
struct differentiator {
  grid size;
  planes fields, metrics;
  float* values;  ///< 24 per voxel

  VOXHERD_FUNCTION void operator()(std::uint32_t i) const {
    int x, y, z;
    size.place(i, x, y, z);
    float v[24];
    VOXHERD_UNROLL
    for (int e = 0; e < 6; ++e) v[e] = fields.at(e, i);
    const std::size_t row = size.nx, slice = row * size.ny;
    VOXHERD_UNROLL
    for (int e = 0; e < 6; ++e) {
      const float* g = &metrics.at(e, i);
      v[6 + e] = derivative(g, 1, x, static_cast<int>(size.nx));
      v[12 + e] = derivative(g, row, y, static_cast<int>(size.ny));
      v[18 + e] = derivative(g, slice, z, static_cast<int>(size.nz));
    }
    auto* out = reinterpret_cast<four_floats*>(values + std::size_t{24} * i);
    VOXHERD_UNROLL
    for (int e = 0; e < 6; ++e) out[e] = {v[4 * e], v[4 * e + 1], v[4 * e + 2], v[4 * e + 3]};
  }

 private:
  VOXHERD_FUNCTION static float derivative(const float* g, std::size_t stride, int place, int n) {
    const auto step = static_cast<std::ptrdiff_t>(stride);
    if (n == 1) return 0;
    if (n == 2) return place == 0 ? g[step] - g[0] : g[0] - g[-step];
    if (place == 0) return 0.5f * (4 * (g[step] - g[0]) - (g[2 * step] - g[0]));
    if (place == n - 1) return 0.5f * (4 * (g[0] - g[-step]) - (g[0] - g[-2 * step]));
    return 0.5f * (g[step] - g[-step]);
  }
};

}  // namespace voxherd::tensor_field::prepare
