#pragma once

#include "kernels/perfusion/fed_inputs.hpp"
#include "kernels/perfusion/model.hpp"

namespace voxherd::perfusion {

/// The model on even frames by the sum over all earlier frames, in either discretisation (see taps.hpp, model.hpp):
/// what the recursion is compared with. N^2 / 2 products, for a tile of frames at a time, so that an input's samples
/// are read and the powers of E made once for all of the tile.
template <class Number, discretisation_kind Kind>
class direct_model {
 public:
  using scalar = typename lane::lane_traits<Number>::scalar;

  VOXHERD_FUNCTION explicit direct_model(const curves_view<scalar>& view) : view_(view) {}

  VOXHERD_FUNCTION Number cost(const Number (&p)[parameter_count], voxel_samples y) const {
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
  VOXHERD_FUNCTION void curve(const Number (&p)[parameter_count], Write&& write) const {
    const kept_inputs fed(view_, p);
    Number power[2 * tile];  // E^0 to E^(2 tile - 1)
    power[0] = Number(scalar(1));
    power[1] = decay(p[kl] * view_.spacing_s);
    VOXHERD_UNROLL
    for (int n = 2; n < 2 * tile; ++n) power[n] = power[n / 2] * power[n - n / 2];
    for (int i = 0; i < view_.frames; i += tile) {
      Number c[tile];
      add_own(fed, i, power, c);
      add_earlier(fed, i, power, c);
      VOXHERD_UNROLL
      for (int n = 0; n < tile; ++n)
        if (i + n < view_.frames) write(i + n, c[n]);
    }
  }

 private:
  static constexpr bool many = lane::lane_traits<Number>::count > 1;
  static constexpr int tile = many ? 8 : 4;  ///< a GPU thread has registers for fewer

  /// Lanes read samples one by one: what they have read is kept, of series that are not too long for it.
  struct kept_inputs {
    static constexpr int most = many ? 512 : 1;

    VOXHERD_FUNCTION kept_inputs(const curves_view<scalar>& view, const Number (&p)[parameter_count])
        : fed(view, p), keeps(many && view.frames - fed.first() <= most) {
      if (keeps)
        for (int j = fed.first(); j < view.frames; ++j) kept[j - fed.first()] = fed(j);
    }
    VOXHERD_FUNCTION int first() const { return fed.first(); }
    VOXHERD_FUNCTION Number operator()(int j) const {
      if constexpr (many)
        if (keeps) return kept[j - fed.first()];
      return fed(j);
    }

    fed_inputs<Number, Kind> fed;
    bool keeps;
    Number kept[most];
  };

  /// The tile that begins at frame i from itself. Past the last frame the curves end one sample on.
  VOXHERD_FUNCTION void add_own(const kept_inputs& fed, int i, const Number (&power)[2 * tile],
                                Number (&c)[tile]) const {
    VOXHERD_UNROLL
    for (int n = 0; n < tile; ++n) c[n] = Number(scalar(0));
    VOXHERD_UNROLL
    for (int m = 0; m < tile; ++m) {
      if (i + m >= view_.frames) continue;
      const Number x = fed(i + m);
      VOXHERD_UNROLL
      for (int n = m; n < tile; ++n) c[n] += x * power[n - m];
    }
  }

  /// The tile from all frames before i, backwards.
  VOXHERD_FUNCTION void add_earlier(const kept_inputs& fed, int i, const Number (&power)[2 * tile],
                                    Number (&c)[tile]) const {
    Number shifted[2 * tile - 1];  // E^(i - j - m), from m = tile - 1 back
    VOXHERD_UNROLL
    for (int n = 0; n < 2 * tile - 1; ++n) shifted[n] = power[n + 1];
    int j = i - tile;
    for (; j >= fed.first(); j -= tile) {
      VOXHERD_UNROLL
      for (int m = 0; m < tile; ++m) {
        const Number x = fed(j + m);
        VOXHERD_UNROLL
        for (int n = 0; n < tile; ++n) c[n] += x * shifted[tile - 1 - m + n];
      }
      const Number step = power[tile];
      VOXHERD_UNROLL
      for (int n = 0; n < 2 * tile - 1; ++n) shifted[n] *= step;
    }
    for (int m = tile - 1; m >= 0 && j + m >= fed.first(); --m) {
      const Number x = fed(j + m);
      VOXHERD_UNROLL
      for (int n = 0; n < tile; ++n) {
        c[n] += x * shifted[n];
        shifted[n] *= power[1];
      }
    }
  }

  curves_view<scalar> view_;
};

}  // namespace voxherd::perfusion
