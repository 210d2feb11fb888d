#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/geodesic/scalar_reader.hpp"

/// The readers of scalar_reader.hpp for the lanes of a CPU thread, each at its own position. A ray reads eight adjacent
/// floats at a time, which SIMD instructions interpolate, for two rays at once where a register has room for both. The
/// results are then transposed to one ray per lane.
namespace voxherd::geodesic {

namespace detail {

inline constexpr int lanes = static_cast<int>(lane::float_lanes::size());
inline constexpr int rays_together = lanes >= 16 ? 2 : 1, groups = lanes / rays_together;

using block = lane::stdx::simd<float, lane::stdx::simd_abi::deduce_t<float, 8 * rays_together>>;

/// As many groups of four floats as a register has room for.
using quads [[gnu::vector_size(sizeof(lane::float_lanes))]] = float;
using quad [[gnu::vector_size(16)]] = float;
using octet [[gnu::vector_size(32)]] = float;

/// Two parts in one register.
template <class Part>
VOXHERD_INLINED auto joined(Part low, Part high) {
#if defined(__AVX512DQ__)
  // GCC would shuffle both parts; CPUs by Intel have one unit that shuffles 512 bits.
  if constexpr (sizeof(Part) == 32)
    return std::bit_cast<quads>(
        _mm512_insertf32x8(_mm512_castps256_ps512(std::bit_cast<__m256>(low)), std::bit_cast<__m256>(high), 1));
  else
#endif
    return [&]<int... I>(std::integer_sequence<int, I...>) VOXHERD_INLINED_LAMBDA {
      return __builtin_shufflevector(low, high, I...);
    }
  (std::make_integer_sequence<int, 2 * sizeof(Part) / sizeof(float)>());
}

template <class Vector>
VOXHERD_INLINED Vector load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

/// Eight floats of each ray, `ahead` of its address.
template <int Rays>
VOXHERD_INLINED block load_block(const float* const (&from)[Rays], std::ptrdiff_t ahead) {
  if constexpr (Rays == 1) {
    return block(from[0] + ahead, lane::stdx::element_aligned);
  } else {
    return std::bit_cast<block>(joined(load<octet>(from[0] + ahead), load<octet>(from[1] + ahead)));
  }
}

/// One number per ray, for all of its channels. Subtracting 0 from it fills a vector.
template <int Rays = rays_together, class Float>
VOXHERD_INLINED block spread(const Float* of_rays) {
  if constexpr (Rays == 1) {
    return block(of_rays[0]);
  } else {
    const octet zero{};
    return std::bit_cast<block>(joined(of_rays[0] - zero, of_rays[1] - zero));
  }
}

/// Eight channels and their derivatives with respect to the index x, y, z.
struct block_sample {
  block value, gradient[3];
};

/// The cells that all lanes interpolate in.
struct trilinear_cells {
  std::ptrdiff_t step[3];
  const float* first[lanes];
  alignas(64) float within[3][lanes];

  VOXHERD_INLINED trilinear_cells(const field_view& f, int floats, const place<lane::float_lanes>& p) {
    const std::ptrdiff_t stride[3] = {floats, std::ptrdiff_t{floats} * f.size[0],
                                      std::ptrdiff_t{floats} * f.size[0] * f.size[1]};
    alignas(64) int start[3][lanes];
    for (int axis = 0; axis < 3; ++axis) {
      lane::float_lanes low, from_low;
      cell_at(p, axis, f.size[axis], low, from_low);
      lane::stdx::static_simd_cast<lane::int_lanes>(low).copy_to(start[axis], lane::stdx::element_aligned);
      from_low.copy_to(within[axis], lane::stdx::element_aligned);
      step[axis] = f.size[axis] > 1 ? stride[axis] : 0;
    }
    for (int i = 0; i < lanes; ++i) {
      for (int axis = 0; axis < 3; ++axis) assert(start[axis][i] >= 0 && start[axis][i] < f.size[axis]);
      first[i] = f.values + start[0][i] * stride[0] + start[1][i] * stride[1] + start[2][i] * stride[2];
    }
  }

  /// Rays from number `ray` on.
  VOXHERD_INLINED block_sample sample(int ray, int channel) const {
    const float* from[rays_together];
    for (int r = 0; r < rays_together; ++r) from[r] = first[ray + r] + channel;
    const block x = spread(within[0] + ray), y = spread(within[1] + ray), z = spread(within[2] + ray);
    block value[2], by_x[2], by_y[2];
    for (int k = 0; k < 2; ++k) {
      const std::ptrdiff_t at = k * step[2];
      const block a = load_block(from, at), c0 = load_block(from, at + step[0]) - a, b = load_block(from, at + step[1]),
                  c1 = load_block(from, at + step[1] + step[0]) - b;
      const block low = a + x * c0;
      by_x[k] = c0 + y * (c1 - c0);
      by_y[k] = b + x * c1 - low;
      value[k] = low + y * by_y[k];
    }
    block_sample s;
    s.gradient[0] = by_x[0] + z * (by_x[1] - by_x[0]);
    s.gradient[1] = by_y[0] + z * (by_y[1] - by_y[0]);
    s.gradient[2] = value[1] - value[0];
    s.value = value[0] + z * s.gradient[2];
    return s;
  }
};

/// The 64 coefficients around all lanes, and their weights.
struct spline_cells {
  const float* values;
  std::ptrdiff_t stride[3];
  alignas(64) float weight[3][4][lanes], slope[3][4][lanes];
  alignas(64) int tap[3][4][lanes];

  VOXHERD_INLINED spline_cells(const field_view& f, int floats, const place<lane::float_lanes>& p)
      : values(f.values),
        stride{floats, std::ptrdiff_t{floats} * f.size[0], std::ptrdiff_t{floats} * f.size[0] * f.size[1]} {
    using lane::stdx::element_aligned;
    for (int axis = 0; axis < 3; ++axis) {
      lane::float_lanes low, within, w[4], d[4];
      cell_at(p, axis, f.size[axis], low, within);
      spline_weights(within, w, d);
      const auto start = lane::stdx::static_simd_cast<lane::int_lanes>(low);
      for (int i = 0; i < 4; ++i) {
        w[i].copy_to(weight[axis][i], element_aligned);
        d[i].copy_to(slope[axis][i], element_aligned);
        mirrored(start + (i - 1), f.size[axis]).copy_to(tap[axis][i], element_aligned);
      }
    }
  }

  VOXHERD_INLINED block_sample sample(int ray, int channel) const {
    block w[3][4], d[3][4];
    for (int axis = 0; axis < 3; ++axis)
      for (int i = 0; i < 4; ++i) {
        w[axis][i] = spread(weight[axis][i] + ray);
        d[axis][i] = spread(slope[axis][i] + ray);
      }
    block_sample s{};
    for (int k = 0; k < 4; ++k) {
      block value = 0.0f, by_x = 0.0f, by_y = 0.0f;
      for (int j = 0; j < 4; ++j) {
        const float* row[rays_together];
        for (int r = 0; r < rays_together; ++r)
          row[r] = values + channel + tap[1][j][ray + r] * stride[1] + tap[2][k][ray + r] * stride[2];
        block row_value = 0.0f, row_slope = 0.0f;
        for (int i = 0; i < 4; ++i) {
          const float* from[rays_together];
          for (int r = 0; r < rays_together; ++r) from[r] = row[r] + tap[0][i][ray + r] * stride[0];
          const block b = load_block(from, 0);
          row_value += w[0][i] * b;
          row_slope += d[0][i] * b;
        }
        value += w[1][j] * row_value;
        by_x += w[1][j] * row_slope;
        by_y += d[1][j] * row_value;
      }
      s.value += w[2][k] * value;
      s.gradient[0] += w[2][k] * by_x;
      s.gradient[1] += w[2][k] * by_y;
      s.gradient[2] += d[2][k] * value;
    }
    return s;
  }

 private:
  VOXHERD_INLINED static lane::int_lanes mirrored(lane::int_lanes i, int size) {
    if (size == 1) return 0;
    const int last = size - 1;
    const lane::int_lanes beyond = last - lane::stdx::max(i, -i);
    return lane::stdx::max(last - lane::stdx::max(beyond, -beyond), lane::int_lanes(0));
  }
};

/// Four floats from each of several addresses, `Stride` floats apart.
template <int Count, int Stride>
VOXHERD_INLINED auto load_quads(const float* first) {
#if defined(__AVX512F__)
  if constexpr (Count == 4) {
    __m512 q = _mm512_castps128_ps512(_mm_loadu_ps(first));
    q = _mm512_insertf32x4(q, _mm_loadu_ps(first + Stride), 1);
    q = _mm512_insertf32x4(q, _mm_loadu_ps(first + 2 * Stride), 2);
    return std::bit_cast<quads>(_mm512_insertf32x4(q, _mm_loadu_ps(first + 3 * Stride), 3));
  } else
#endif
      if constexpr (Count == 1)
    return load<quad>(first);
  else
    return joined(load_quads<Count / 2, Stride>(first), load_quads<Count / 2, Stride>(first + Count / 2 * Stride));
}

/// In each quad, values of a and b by turns: those of their first halves, or of their second halves.
template <int Half>
VOXHERD_INLINED quads interleaved(quads a, quads b) {
  return [&]<int... I>(std::integer_sequence<int, I...>) VOXHERD_INLINED_LAMBDA {
    return __builtin_shufflevector(a, b, I / 4 * 4 + 2 * Half + I % 4 / 2 + I % 2 * lanes...);
  }
  (std::make_integer_sequence<int, lanes>());
}

/// Transposes each group of 4 by 4 values.
VOXHERD_INLINED void transpose_quads(quads (&row)[4]) {
  const quads a = interleaved<0>(row[0], row[2]), b = interleaved<0>(row[1], row[3]);
  const quads c = interleaved<1>(row[0], row[2]), d = interleaved<1>(row[1], row[3]);
  row[0] = interleaved<0>(a, b);
  row[1] = interleaved<1>(a, b);
  row[2] = interleaved<0>(c, d);
  row[3] = interleaved<1>(c, d);
}

/// Samples of all lanes: ray after ray when they are written, channel after channel when they are read.
template <int Blocks>
struct sample_table {
  alignas(64) float samples[groups][Blocks][8 * rays_together];

  VOXHERD_INLINED void put(int group, int number, const block& b) {
    b.copy_to(samples[group][number], lane::stdx::element_aligned);
  }
  /// Channels 0 to 7 of block `number`, as far as `out` has room from channel `first` on.
  template <int Channels>
  VOXHERD_INLINED void get(int number, int first, lane::float_lanes (&out)[Channels]) const {
    for (int half = 0; half < 8 && first + half < Channels; half += 4) {
      quads row[4];
      for (int i = 0; i < 4; ++i)
        row[i] =
            load_quads<lanes / 4, 4 * Blocks * 8>(&samples[i / rays_together][number][i % rays_together * 8 + half]);
      transpose_quads(row);
      for (int i = 0; i < 4 && first + half + i < Channels; ++i)
        out[first + half + i] = std::bit_cast<lane::float_lanes>(row[i]);
    }
  }
};

}  // namespace detail

template <int Floats, bool Spline>
class lanes_reader {
 public:
  using number = lane::float_lanes;

  explicit lanes_reader(const field_view& f) : field_(f) {}
  const field_view& field() const { return field_; }

  template <int Channels>
  void values(const place<number>& p, number (&out)[Channels]) const {
    constexpr int blocks = (Channels + 7) / 8;
    detail::sample_table<blocks> table;
    const cells all(field_, Floats, p);
    for (int group = 0; group < detail::groups; ++group)
      for (int b = 0; b < blocks; ++b) table.put(group, b, all.sample(group * detail::rays_together, 8 * b).value);
    for (int b = 0; b < blocks; ++b) table.get(b, 8 * b, out);
  }

  template <int Channels>
  void values_and_gradients(const place<number>& p, number (&out)[Channels], number (&gradient)[3][Channels]) const {
    constexpr int blocks = (Channels + 7) / 8;
    detail::sample_table<4 * blocks> table;
    const cells all(field_, Floats, p);
    for (int group = 0; group < detail::groups; ++group)
      for (int b = 0; b < blocks; ++b) {
        const detail::block_sample s = all.sample(group * detail::rays_together, 8 * b);
        table.put(group, 4 * b, s.value);
        for (int axis = 0; axis < 3; ++axis) table.put(group, 4 * b + axis + 1, s.gradient[axis]);
      }
    for (int b = 0; b < blocks; ++b) {
      table.get(4 * b, 8 * b, out);
      for (int axis = 0; axis < 3; ++axis) table.get(4 * b + axis + 1, 8 * b, gradient[axis]);
    }
  }

  /// The counterpart of trilinear_reader::flow.
  void flow(const place<number>& at, const number (&p)[3], number (&applied)[3], number (&gradient)[3]) const {
    number t[6], derivative[3][6];
    values_and_gradients(at, t, derivative);
    apply(t, p, applied);
    for (int axis = 0; axis < 3; ++axis) gradient[axis] = quadratic(derivative[axis], p);
  }

 private:
  using cells = std::conditional_t<Spline, detail::spline_cells, detail::trilinear_cells>;

  field_view field_;
};

}  // namespace voxherd::geodesic
