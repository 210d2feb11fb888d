#pragma once

#include <cstddef>

#include "kernels/geodesic/place.hpp"
#include "kernels/tensor_field/field.hpp"
#include "kernels/tensor_field/symmetric3.hpp"

/// Interpolates a field at one point at a time, as a CUDA thread does.
namespace voxherd::geodesic {

namespace detail {

struct four {
  float value[4];
};

/// Loads 16 aligned bytes of the field.
VOXHERD_FUNCTION inline four load_four(const float* from) {
#if defined(__CUDA_ARCH__)
  const float4 v = __ldg(reinterpret_cast<const float4*>(from));
  return {{v.x, v.y, v.z, v.w}};
#else
  return {{from[0], from[1], from[2], from[3]}};
#endif
}

/// p^T T p for the six elements of a symmetric T, given the six products of p's elements, mixed ones doubled.
VOXHERD_FUNCTION inline float contracted(const float (&t)[6], const float (&pp)[6]) {
  return t[0] * pp[0] + t[1] * pp[1] + (t[2] * pp[2] + t[3] * pp[3]) + (t[4] * pp[4] + t[5] * pp[5]);
}

VOXHERD_FUNCTION inline void component_products(const float (&p)[3], float (&pp)[6]) {
  pp[0] = p[0] * p[0], pp[1] = 2 * p[0] * p[1], pp[2] = 2 * p[0] * p[2];
  pp[3] = p[1] * p[1], pp[4] = 2 * p[1] * p[2], pp[5] = p[2] * p[2];
}

VOXHERD_FUNCTION inline void load_six(const float* from, float (&t)[6]) {
  const four a = load_four(from), b = load_four(from + 4);
  t[0] = a.value[0], t[1] = a.value[1], t[2] = a.value[2], t[3] = a.value[3], t[4] = b.value[0], t[5] = b.value[1];
}

}  // namespace detail

/// Trilinear, differentiated exactly.
template <int Floats>
class trilinear_reader {
 public:
  using number = float;

  VOXHERD_FUNCTION explicit trilinear_reader(const field_view& f) : field_(f) {}
  VOXHERD_FUNCTION const field_view& field() const { return field_; }

  /// The first `Channels` values.
  template <int Channels>
  VOXHERD_FUNCTION void values(const place<float>& p, float (&out)[Channels]) const {
    const cell c = locate_cell(p);
    for (float& o : out) o = 0;
    for_corners(c, [&](const float* at, int i, int j, int k) {
      const float w = c.weight[0][i] * (c.weight[1][j] * c.weight[2][k]);
      VOXHERD_UNROLL for (int first = 0; first < Channels; first += 4) {
        const detail::four v = detail::load_four(at + first);
        VOXHERD_UNROLL for (int n = 0; n < 4; ++n) {
          if (first + n < Channels) out[first + n] += w * v.value[n];
        }
      }
    });
  }

  /// Values and their derivatives with respect to the index x, y, z.
  template <int Channels>
  VOXHERD_FUNCTION void values_and_gradients(const place<float>& p, float (&out)[Channels],
                                             float (&gradient)[3][Channels]) const {
    const cell c = locate_cell(p);
    for (int n = 0; n < Channels; ++n) out[n] = gradient[0][n] = gradient[1][n] = gradient[2][n] = 0;
    for_corners(c, [&](const float* at, int i, int j, int k) {
      const float wx = c.weight[0][i], wy = c.weight[1][j], wz = c.weight[2][k];
      const float weights[4] = {wx * wy * wz, c.slope(0, i) * wy * wz, wx * c.slope(1, j) * wz,
                                wx * wy * c.slope(2, k)};
      VOXHERD_UNROLL for (int first = 0; first < Channels; first += 4) {
        const detail::four v = detail::load_four(at + first);
        VOXHERD_UNROLL for (int n = 0; n < 4; ++n) {
          if (first + n >= Channels) continue;
          out[first + n] += weights[0] * v.value[n];
          for (int axis = 0; axis < 3; ++axis) gradient[axis][first + n] += weights[axis + 1] * v.value[n];
        }
      }
    });
  }

  /// The tensor applied to p, and the gradient of p^T T p. Each corner is contracted as soon as it is read, so that 18
  /// derivatives need no registers.
  VOXHERD_FUNCTION void flow(const place<float>& at_place, const float (&p)[3], float (&applied)[3],
                             float (&gradient)[3]) const {
    const cell c = locate_cell(at_place);
    float pp[6], t[6] = {}, s[2][2][2];
    detail::component_products(p, pp);
    for_corners(c, [&](const float* at, int i, int j, int k) {
      float corner[6];
      detail::load_six(at, corner);
      const float w = c.weight[0][i] * (c.weight[1][j] * c.weight[2][k]);
      VOXHERD_UNROLL for (int n = 0; n < 6; ++n) t[n] += w * corner[n];
      s[k][j][i] = detail::contracted(corner, pp);
    });
    const float(&x)[2] = c.weight[0], (&y)[2] = c.weight[1], (&z)[2] = c.weight[2];
    float along_x[2][2], value[2][2];
    VOXHERD_UNROLL for (int k = 0; k < 2; ++k) {
      VOXHERD_UNROLL for (int j = 0; j < 2; ++j) {
        along_x[k][j] = s[k][j][1] - s[k][j][0];
        value[k][j] = x[0] * s[k][j][0] + x[1] * s[k][j][1];
      }
    }
    gradient[0] =
        z[0] * (y[0] * along_x[0][0] + y[1] * along_x[0][1]) + z[1] * (y[0] * along_x[1][0] + y[1] * along_x[1][1]);
    gradient[1] = z[0] * (value[0][1] - value[0][0]) + z[1] * (value[1][1] - value[1][0]);
    gradient[2] = (y[0] * value[1][0] + y[1] * value[1][1]) - (y[0] * value[0][0] + y[1] * value[0][1]);
    apply(t, p, applied);
  }

 private:
  struct cell {
    const float* first;
    std::ptrdiff_t stride[3];
    float weight[3][2];
    VOXHERD_FUNCTION float slope(int axis, int side) const {
      return stride[axis] == 0 ? 0.0f : (side == 1 ? 1.0f : -1.0f);
    }
  };

  VOXHERD_FUNCTION cell locate_cell(const place<float>& p) const {
    cell c;
    const int* size = field_.size;
    int start[3];
    VOXHERD_UNROLL for (int axis = 0; axis < 3; ++axis) {
      float first, within;
      cell_at(p, axis, size[axis], first, within);
      start[axis] = static_cast<int>(first);
      assert(start[axis] >= 0 && start[axis] < size[axis]);
      c.weight[axis][0] = 1.0f - within;
      c.weight[axis][1] = within;
    }
    c.stride[0] = size[0] > 1 ? Floats : 0;
    c.stride[1] = size[1] > 1 ? std::ptrdiff_t{Floats} * size[0] : 0;
    c.stride[2] = size[2] > 1 ? std::ptrdiff_t{Floats} * size[0] * size[1] : 0;
    c.first =
        field_.values + Floats * (start[0] + size[0] * (start[1] + static_cast<std::ptrdiff_t>(size[1]) * start[2]));
    return c;
  }

  template <class Visit>
  VOXHERD_FUNCTION static void for_corners(const cell& c, Visit visit) {
    VOXHERD_UNROLL for (int k = 0; k < 2; ++k) {
      VOXHERD_UNROLL for (int j = 0; j < 2; ++j) {
        VOXHERD_UNROLL for (int i = 0; i < 2; ++i) {
          visit(c.first + i * c.stride[0] + j * c.stride[1] + k * c.stride[2], i, j, k);
        }
      }
    }
  }

  field_view field_;
};

namespace detail {

/// Weights of the four cubic B-splines that contribute at a point, and their derivatives; x in [0, 1] within the cell.
template <class Number>
VOXHERD_FUNCTION inline void spline_weights(Number x, Number (&w)[4], Number (&d)[4]) {
  const Number y = 1.0f - x, xx = x * x, yy = y * y;
  w[0] = yy * y * (1.0f / 6);
  w[1] = 2.0f / 3 - xx * (1.0f - 0.5f * x);
  w[2] = 2.0f / 3 - yy * (1.0f - 0.5f * y);
  w[3] = xx * x * (1.0f / 6);
  d[0] = -0.5f * yy;
  d[1] = x * (1.5f * x - 2.0f);
  d[2] = -y * (1.5f * y - 2.0f);
  d[3] = 0.5f * xx;
}

/// Whole-sample symmetric continuation of the coefficients beyond the image.
VOXHERD_FUNCTION inline int mirrored(int i, int size) {
  if (size == 1) return 0;
  const int last = size - 1;
  i = i < 0 ? -i : i;
  const int beyond = last - i;
  i = last - (beyond < 0 ? -beyond : beyond);
  return i < 0 ? 0 : i;
}

}  // namespace detail

/// Cubic B-spline of prefiltered coefficients, differentiated exactly.
template <int Floats>
class spline_reader {
 public:
  using number = float;

  VOXHERD_FUNCTION explicit spline_reader(const field_view& f) : field_(f) {}
  VOXHERD_FUNCTION const field_view& field() const { return field_; }

  template <int Channels>
  VOXHERD_FUNCTION void values(const place<float>& p, float (&out)[Channels]) const {
    const taps s = locate_taps(p);
    for (float& o : out) o = 0;
    VOXHERD_UNROLL for (int k = 0; k < 4; ++k) {
      VOXHERD_UNROLL for (int j = 0; j < 4; ++j) {
        const float* row = s.row(k, j);
        const float outer = s.weight[1][j] * s.weight[2][k];
        VOXHERD_UNROLL for (int i = 0; i < 4; ++i) add(row + s.step[0][i], s.weight[0][i] * outer, out);
      }
    }
  }

  template <int Channels>
  VOXHERD_FUNCTION void values_and_gradients(const place<float>& p, float (&out)[Channels],
                                             float (&gradient)[3][Channels]) const {
    const taps s = locate_taps(p);
    for (int n = 0; n < Channels; ++n) out[n] = gradient[0][n] = gradient[1][n] = gradient[2][n] = 0;
    VOXHERD_UNROLL for (int k = 0; k < 4; ++k) {
      VOXHERD_UNROLL for (int j = 0; j < 4; ++j) {
        const float* row = s.row(k, j);
        float value[Channels] = {}, along_x[Channels] = {};
        VOXHERD_UNROLL for (int i = 0; i < 4; ++i) {
          add(row + s.step[0][i], s.weight[0][i], value);
          add(row + s.step[0][i], s.slope[0][i], along_x);
        }
        const float w = s.weight[1][j] * s.weight[2][k], y = s.slope[1][j] * s.weight[2][k],
                    z = s.weight[1][j] * s.slope[2][k];
        VOXHERD_UNROLL for (int n = 0; n < Channels; ++n) {
          out[n] += w * value[n];
          gradient[0][n] += w * along_x[n];
          gradient[1][n] += y * value[n];
          gradient[2][n] += z * value[n];
        }
      }
    }
  }

  /// The counterpart of trilinear_reader::flow. Sums each row of four, then contracts.
  VOXHERD_FUNCTION void flow(const place<float>& at_place, const float (&p)[3], float (&applied)[3],
                             float (&gradient)[3]) const {
    const taps s = locate_taps(at_place);
    float pp[6], t[6] = {};
    detail::component_products(p, pp);
    gradient[0] = gradient[1] = gradient[2] = 0;
    VOXHERD_UNROLL for (int k = 0; k < 4; ++k) {
      VOXHERD_UNROLL for (int j = 0; j < 4; ++j) {
        const float* row = s.row(k, j);
        float value[6] = {}, along_x = 0;
        VOXHERD_UNROLL for (int i = 0; i < 4; ++i) {
          float c[6];
          detail::load_six(row + s.step[0][i], c);
          VOXHERD_UNROLL for (int n = 0; n < 6; ++n) value[n] += s.weight[0][i] * c[n];
          along_x += s.slope[0][i] * detail::contracted(c, pp);
        }
        const float w = s.weight[1][j] * s.weight[2][k], contracted = detail::contracted(value, pp);
        VOXHERD_UNROLL for (int n = 0; n < 6; ++n) t[n] += w * value[n];
        gradient[0] += w * along_x;
        gradient[1] += s.slope[1][j] * s.weight[2][k] * contracted;
        gradient[2] += s.weight[1][j] * s.slope[2][k] * contracted;
      }
    }
    apply(t, p, applied);
  }

 private:
  struct taps {
    const float* values;
    std::ptrdiff_t step[3][4];  ///< in floats
    float weight[3][4], slope[3][4];
    VOXHERD_FUNCTION const float* row(int k, int j) const { return values + step[1][j] + step[2][k]; }
  };

  VOXHERD_FUNCTION taps locate_taps(const place<float>& p) const {
    taps s;
    const int* size = field_.size;
    const std::ptrdiff_t stride[3] = {Floats, std::ptrdiff_t{Floats} * size[0],
                                      std::ptrdiff_t{Floats} * size[0] * size[1]};
    s.values = field_.values;
    VOXHERD_UNROLL for (int axis = 0; axis < 3; ++axis) {
      float first, within;
      cell_at(p, axis, size[axis], first, within);
      const int start = static_cast<int>(first);
      assert(start >= 0 && start < size[axis]);
      detail::spline_weights(within, s.weight[axis], s.slope[axis]);
      VOXHERD_UNROLL for (int i = 0; i < 4; ++i) {
        s.step[axis][i] = stride[axis] * detail::mirrored(start + i - 1, size[axis]);
      }
    }
    return s;
  }

  template <int Channels>
  VOXHERD_FUNCTION static void add(const float* from, float weight, float (&to)[Channels]) {
    VOXHERD_UNROLL for (int first = 0; first < Channels; first += 4) {
      const detail::four v = detail::load_four(from + first);
      VOXHERD_UNROLL for (int n = 0; n < 4; ++n) {
        if (first + n < Channels) to[first + n] += weight * v.value[n];
      }
    }
  }

  field_view field_;
};

}  // namespace voxherd::geodesic
