#pragma once

#include "kernels/perfusion/fed_inputs.hpp"
#include "kernels/perfusion/model.hpp"
#include "kernels/perfusion/phi.hpp"
#include "kernels/portable/lanes.hpp"

namespace voxherd::perfusion {

/// C_i = sum_{j <= i} E^(i-j) x_j, E = exp(-rate T), by the sum over all earlier frames, for a tile of frames at a
/// time: x read and powers of E made once for all of the tile.
template <class Number>
class direct_sum {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;
  static constexpr int tile = lane::lane_traits<Number>::count > 1 ? 8 : 4;  ///< a GPU thread has registers for fewer

  VOXHERD_FUNCTION explicit direct_sum(Number rate_T) {
    power_[0] = Number(scalar(1));
    power_[1] = decay(rate_T);
    VOXHERD_UNROLL
    for (int n = 2; n < 2 * tile; ++n) power_[n] = power_[n / 2] * power_[n - n / 2];
  }

  /// Calls write(i, C_i) for i in [0, frames), in order. Input x(j): x_j for j from `first` <= 0 on.
  template <class Input, class Write>
  VOXHERD_FUNCTION void operator()(int first, int frames, const Input& x, Write&& write) const {
    for (int i = 0; i < frames; i += tile) {
      Number c[tile];
      add_own(i, frames, x, c);
      add_earlier(i, first, x, c);
      VOXHERD_UNROLL
      for (int n = 0; n < tile; ++n)
        if (i + n < frames) write(i + n, c[n]);
    }
  }

 private:
  /// The tile that begins at frame i from itself.
  template <class Input>
  VOXHERD_FUNCTION void add_own(int i, int frames, const Input& x, Number (&c)[tile]) const {
    VOXHERD_UNROLL
    for (int n = 0; n < tile; ++n) c[n] = Number(scalar(0));
    VOXHERD_UNROLL
    for (int m = 0; m < tile; ++m) {
      if (i + m >= frames) continue;
      const Number at = x(i + m);
      VOXHERD_UNROLL
      for (int n = m; n < tile; ++n) c[n] += at * power_[n - m];
    }
  }

  /// The tile from all frames before i, backwards.
  template <class Input>
  VOXHERD_FUNCTION void add_earlier(int i, int first, const Input& x, Number (&c)[tile]) const {
    Number shifted[2 * tile - 1];  // E^(i - j - m), from m = tile - 1 back
    VOXHERD_UNROLL
    for (int n = 0; n < 2 * tile - 1; ++n) shifted[n] = power_[n + 1];
    int j = i - tile;
    for (; j >= first; j -= tile) {
      VOXHERD_UNROLL
      for (int m = 0; m < tile; ++m) {
        const Number at = x(j + m);
        VOXHERD_UNROLL
        for (int n = 0; n < tile; ++n) c[n] += at * shifted[tile - 1 - m + n];
      }
      VOXHERD_UNROLL
      for (int n = 0; n < 2 * tile - 1; ++n) shifted[n] *= power_[tile];
    }
    for (int m = tile - 1; m >= 0 && j + m >= first; --m) {
      const Number at = x(j + m);
      VOXHERD_UNROLL
      for (int n = 0; n < tile; ++n) {
        c[n] += at * shifted[n];
        shifted[n] *= power_[1];
      }
    }
  }

  Number power_[2 * tile];  ///< E^0 to E^(2 tile - 1)
};

/// A washout model of two inputs on even frames by the sum over all earlier frames, in either discretisation (see
/// taps.hpp, model.hpp): the reference for the recursion.
template <class Number, discretisation_kind Kind>
class direct_model {
 public:
  using tissue = washout<2>;
  using scalar = typename lane::lane_traits<Number>::scalar;

  VOXHERD_FUNCTION explicit direct_model(const curves_view<scalar>& view) : view_(view) {}

  VOXHERD_FUNCTION Number cost(const Number (&p)[tissue::count], voxel_samples y) const {
    Number sum(scalar(0));
    curve(p, [&](int i, Number c) {
      if (view_.counted != view_.frames && view_.counts[i] == 0) return;
      const Number rest = load(y.first + i * y.stride, Number(scalar(0))) - c;
      sum += rest * rest;
    });
    return sum;
  }

  /// Calls write(i, C_i) for all frames.
  template <class Write>
  VOXHERD_FUNCTION void curve(const Number (&p)[tissue::count], Write&& write) const {
    const kept_inputs fed(view_, p);
    direct_sum<Number>(p[tissue::rate] * view_.spacing_s)(fed.fed.first(), view_.frames, fed, write);
  }

 private:
  /// Lanes read samples one by one, so the samples read are kept unless the series is too long.
  struct kept_inputs {
    static constexpr bool many = lane::lane_traits<Number>::count > 1;
    static constexpr int most = many ? 512 : 1;

    VOXHERD_FUNCTION kept_inputs(const curves_view<scalar>& view, const Number (&p)[tissue::count])
        : fed(view, p), keeps(many && view.frames - fed.first() <= most) {
      if (keeps) fed.each(fed.first(), view.frames, [&](int j, const Number& x) { kept[j - fed.first()] = x; });
    }
    VOXHERD_FUNCTION Number operator()(int j) const {
      if constexpr (many)
        if (keeps) return kept[j - fed.first()];
      return fed(j);
    }

    fed_inputs<Number, Kind> fed;
    bool keeps;
    Number kept[most];
  };

  curves_view<scalar> view_;
};

}  // namespace voxherd::perfusion
